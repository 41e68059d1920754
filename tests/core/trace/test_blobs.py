import hashlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.schema.errors import TraceError
from core.trace.store import TraceStore

PAGE = "".join(f"<p id='p{number}'>Line {number * 7919 % 1009} of the page</p>" for number in range(60))


def row(store, name):
    (found,) = store._database.rows("SELECT *, length(data) AS stored FROM blobs WHERE hash = ?", (name,))
    return found


def test_a_blob_is_named_by_its_hash_and_stored_once(store):
    name = store.put_blob(PAGE.encode(), "text/html")
    assert name == hashlib.sha256(PAGE.encode()).hexdigest()
    assert store.put_blob(PAGE.encode(), "text/html") == name
    assert store._database.rows("SELECT count(*) AS count FROM blobs") == [{"count": 1}]
    assert store.blob_and_type(name) == (PAGE.encode(), "text/html")


def test_text_is_compressed_and_a_picture_is_left_as_it_is(store):
    text = row(store, store.put_blob(PAGE.encode(), "text/html"))
    assert text["encoding"] == "zstd"
    assert text["stored"] < text["size"] / 3
    picture = row(store, store.put_blob(b"RIFF" + b"a" * 5000, "image/webp"))
    assert (picture["encoding"], picture["stored"]) == ("identity", 5004)


def test_what_is_almost_the_same_costs_almost_nothing(store, path):
    first = row(store, store.put_blob(PAGE.encode(), "text/html"))
    changed = PAGE.replace("p30", "thirtieth").encode()
    name = store.put_blob(changed, "text/html")
    second = row(store, name)
    assert second["dictionary"] == first["id"]
    assert second["stored"] < first["stored"] / 5
    assert store.blob(name) == changed
    other = TraceStore.open(path, read_only=True)
    assert other.blob(name) == changed
    other.close()


def test_a_dictionary_never_has_one_itself(store):
    for number in range(50):
        store.put_blob(f"{PAGE}<b>{number}</b>{'x' * number}".encode(), "text/html")
    chained = store._database.rows(
        "SELECT 1 FROM blobs JOIN blobs AS shared ON shared.id = blobs.dictionary"
        " WHERE shared.dictionary IS NOT NULL"
    )
    assert chained == []


@given(contents=st.lists(st.binary(max_size=400) | st.text(max_size=400).map(str.encode), max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_blob_comes_back_as_it_went_in(store, contents):
    names = [store.put_blob(content, "text/plain") for content in contents]
    assert [store.blob(name) for name in names] == contents


def test_large_text_is_compressed_without_a_dictionary(store):
    store.put_blob(PAGE.encode(), "text/html")
    large = (PAGE * 100).encode()
    name = store.put_blob(large, "text/html")
    assert row(store, name)["dictionary"] is None
    assert store.blob(name) == large


@pytest.mark.parametrize("change", ["data = x'00112233'", "data = 'text'", "data = substr(data, 1, 20)"])
def test_a_damaged_blob_is_refused_by_name(store, change):
    name = store.put_blob(PAGE.encode(), "text/html")
    store._database.execute(f"UPDATE blobs SET {change}")
    with pytest.raises(TraceError, match=f"{name[:12]}.* is damaged"):
        store.blob(name)


def test_content_that_is_not_what_its_hash_says_is_refused(store):
    name = store.put_blob(b"a" * 100, "image/png")
    store._database.execute("UPDATE blobs SET data = ?", (b"a" * 99 + b"b",))
    with pytest.raises(TraceError, match="is damaged"):
        store.blob(name)


@pytest.mark.parametrize("name", ["", "no hash", "ff" * 32])
def test_a_missing_blob_is_said_to_be_missing(store, name):
    with pytest.raises(TraceError, match="has no blob"):
        store.blob(name)
