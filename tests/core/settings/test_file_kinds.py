import gzip
import io
import json
import pickle
import sqlite3
import tarfile
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.environments.own_tasks import kind_of
from core.environments.task_file import TaskFile
from core.exemplars.exchange.plan import ReadOptions
from core.exemplars.exchange.reader import read_exemplars_of
from core.schema.errors import DataError
from core.settings.file_kinds import kind_of_file, kind_of_text, kind_of_value
from core.trace.imports.registry import read_file


def zipped(*names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    return data.getvalue()


def tarred() -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.json"))
    return data.getvalue()


BYTES = [
    (zipped("trace.trace", "trace.network"), "a Playwright trace (a ZIP archive)"),
    (zipped("0-trace.trace"), "a Playwright trace (a ZIP archive)"),
    (zipped("a.json"), "a ZIP archive"),
    (zipped(), "a ZIP archive"),
    (zipped("[Content_Types].xml"), "an Office document"),
    (zipped("model/data.pkl"), "a Python pickle"),
    (b"PK\x03\x04rest", "a ZIP archive that is damaged"),
    *((pickle.dumps({"a": [1]}, protocol=number), "a Python pickle") for number in range(6)),
    (pickle.dumps([1], protocol=0), "a Python pickle"),
    (gzip.compress(pickle.dumps([1])), "a Python pickle"),
    (gzip.compress(b"{}"), "a gzip archive"),
    (gzip.compress(tarred()), "a tar archive packed with gzip"),
    (b"\x1f\x8b\xff", "a gzip archive"),
    (tarred(), "a tar archive"),
    (b"BZh91AY", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"%PDF-1.7\n", "a PDF document"),
    (b"PAR1\x15\x04", "a Parquet file"),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff\xe0", "a JPEG picture"),
    (b"GIF89a", "a GIF picture"),
    (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "a WebP picture"),
]


@pytest.mark.parametrize(
    ("data", "what"), BYTES, ids=[what for _, what in BYTES]
)  # Archives have the time in them.
def test_a_file_that_is_no_text_is_known_by_its_content(data, what):
    found = kind_of_file(io.BytesIO(data))
    assert found is not None
    assert found.what == what


@pytest.mark.parametrize(
    "text", ["", "{}", '{"a": 1}', "[1]", "title = 'x'\n", "c\n", "(a)\n", "lp\n", "+++\n"]
)
def test_a_text_is_no_other_kind(text):
    assert kind_of_file(io.BytesIO(text.encode())) is None
    assert kind_of_text(text) is None


JSON = [
    ({"schema_version": "ATIF-v1.6", "steps": [{"step_id": 1}]}, "an ATIF trajectory"),
    ({"form": "backstep run", "steps": []}, "the JSON export of a run"),
    ({"log": {"version": "1.2", "entries": []}}, "an HTTP archive (HAR)"),
    ({"resourceSpans": []}, "an OpenTelemetry trace"),
    ({"cookies": [], "origins": []}, "a storage state of Playwright, with logins"),
    ([{"task_id": 1, "intent": "x", "eval": {}}], "a task of WebArena"),
    ({"history": []}, "a browser-use history"),
    ({"title": "x", "steps": [{"type": "click"}]}, "a Chrome DevTools recording"),
    ({"tasks": []}, "a task file"),
    ([{"role": "user", "content": "x"}], "a list of chat messages"),
]


@pytest.mark.parametrize(("document", "what"), JSON)
def test_a_json_document_is_known_by_its_outermost_keys(document, what):
    found = kind_of_value(document)
    assert found is not None
    assert found.what == what


@pytest.mark.parametrize(
    "document", [None, 1, "x", [], {}, [[]], {"steps": [{"action": "x"}]}, {"history": 1}]
)
def test_a_json_document_without_these_keys_is_of_no_known_kind(document):
    assert kind_of_value(document) is None


@given(magic=st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b"]), rest=st.binary(max_size=600))
def test_any_bytes_are_looked_at_without_an_error(magic, rest):
    kind_of_file(io.BytesIO(magic + rest))


READERS = {
    "import": read_file,
    "exemplars": lambda path: read_exemplars_of([path], ReadOptions()),
    "task file": TaskFile.read,
    "added tasks": kind_of,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("content", "what"),
    [
        (
            zipped("trace.trace"),
            "is a Playwright trace (a ZIP archive), which cannot be used here; open it with ",
        ),
        (
            pickle.dumps([1]),
            "is a Python pickle, which is never opened, because reading it runs the code in it; ",
        ),
        (json.dumps(JSON[0][0]).encode(), "is an ATIF trajectory, which cannot be used here; "),
        (
            b"<!DOCTYPE html>\n<html></html>",
            "is an HTML page, which cannot be used here; save the file itself",
        ),
        (
            b'{"type": "context-options"}\n{"type": "before"}\n',
            "is a Playwright trace, which cannot be used here; ",
        ),
    ],
)
def test_whatever_reads_it_names_a_wrong_kind_in_one_sentence(tmp_path, reader, content, what):
    path = tmp_path / "given.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        READERS[reader](path)
    said = str(caught.value)
    assert said.startswith(f"{path} {what}")
    assert said.count("\n") == 0


def test_a_database_and_the_folder_of_a_trace_are_named_for_an_import(tmp_path):
    with sqlite3.connect(tmp_path / "x.db") as database:
        database.execute("CREATE TABLE t (a)")
    database.close()
    with pytest.raises(DataError, match="is an SQLite database"):
        read_file(tmp_path / "x.db")
    (tmp_path / "trace").mkdir()
    with pytest.raises(DataError, match=r"cannot be read \(Is a directory\); give a file"):
        read_file(tmp_path / "trace")
    (tmp_path / "trace" / "trace.trace").write_text('{"type": "context-options"}')
    for read in (read_file, READERS["exemplars"]):
        with pytest.raises(DataError, match="is the folder of a Playwright trace"):
            read(tmp_path / "trace")
