"""Whatever a phase leaves is read back equal."""

import math
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.schema.errors import TraceError
from core.schema.observation import Box, CleanObservation, Element, Observation
from core.schema.step import RECORDS, Abstracted, Acted, CallRecord, Observed
from core.trace.encoding import encode_prompt
from core.trace.store import TraceStore
from tests.core.trace.making import BLOBS, HTML, PICTURE, a_request, records, start
from tests.core.trace.making_records import model

thorough = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=40,
)


def begin(store: TraceStore) -> int:
    run = store.begin_run(start())
    store.begin_step(run, 1)
    return run


@pytest.mark.parametrize("phase", RECORDS)
@given(data=st.data())
@thorough
def test_any_record_is_read_back_equal(store, phase, data):
    record = data.draw(model(RECORDS[phase]))
    run = begin(store)
    store.save_phase(run, 1, record)
    assert store.step(run, 1).records == (record,)


@given(observed=model(Observed), clean=model(CleanObservation), data=st.data())
@thorough
def test_a_clean_observation_of_some_of_the_elements_is_read_back_equal(store, path, observed, clean, data):
    elements = observed.observation.elements
    kept = data.draw(st.lists(st.sampled_from(elements), max_size=6)) if elements else []
    mixed = data.draw(st.permutations([*kept, *clean.elements]))
    abstracted = Abstracted(clean=clean.replace(elements=tuple(mixed)))
    run = begin(store)
    store.save_phase(run, 1, observed)
    if data.draw(st.booleans()):
        writer = TraceStore.open(path)
        writer.save_phase(run, 1, abstracted)
        writer.close()
    else:
        store.save_phase(run, 1, abstracted)
    assert store.step(run, 1).records == (observed, abstracted)


@given(call=model(CallRecord))
@thorough
def test_any_call_is_read_back_equal(store, call):
    run = begin(store)
    prompt = encode_prompt(a_request("Look."))
    named = call.replace(messages=prompt.hash, llm="x", model="y", error="z")
    store.calls.save(run, named, blobs=prompt.blobs)
    assert store.calls.of(run) == (named,)


def test_half_of_a_surrogate_pair_survives_in_records_and_becomes_a_sign_in_lists(store):
    run = begin(store)
    element = Element(ref=1, role="text", name="cut \ud83d", box=Box(x=0, y=0, width=1, height=1))
    record = Observed(observation=Observation(url="about:blank", title="cut \ud83d", elements=(element,)))
    store.save_phase(run, 1, record)
    assert store.step(run, 1).records == (record,)
    assert store.steps(run)[0].title == "cut ?"


def test_endless_numbers_survive(store):
    run = begin(store)
    record = Acted(effect="none", outcome="done", box=Box(x=math.inf, y=-math.inf, width=0, height=0))
    store.save_phase(run, 1, record)
    assert store.step(run, 1).records == (record,)


def test_the_same_page_seen_twice_is_stored_once(store):
    run = store.begin_run(start())
    sizes = []
    for number in (1, 2):
        store.begin_step(run, number)
        for record in records():
            store.save_phase(run, number, record, blobs=BLOBS)
        (row,) = store._database.rows("SELECT count(*) AS count FROM blobs")
        sizes.append(row["count"])
    assert sizes[0] == sizes[1]


def test_short_records_are_readable_text_in_the_database(store):
    run = begin(store)
    for record in records():
        store.save_phase(run, 1, record, blobs=BLOBS)
    (row,) = store._database.rows("SELECT record FROM phases WHERE phase = 'review'")
    assert '"kind":"click"' in row["record"]
    assert store._database.rows("SELECT record FROM phases WHERE phase = 'recall'") == [{"record": "{}"}]


def test_a_page_of_20000_elements_is_stored_within_a_second_and_read_back_equal(store):
    run = begin(store)
    elements = tuple(
        Element(
            ref=ref,
            role="link",
            name=f"Entry {ref * 7919 % 20011}",
            uses=("click",),
            depth=ref % 9,
            parent=ref - 1,
            box=Box(x=ref % 700, y=20.5 * ref, width=90.25, height=18),
            in_viewport=ref < 40,
            tag="a",
        )
        for ref in range(1, 20_001)
    )
    seen = Observation(url="http://127.0.0.1:1/long.html", elements=elements, viewport=(800, 600))
    observed = Observed(observation=seen)
    abstracted = Abstracted(clean=CleanObservation(url=seen.url, elements=elements, text=seen.lines()))
    began = time.process_time()
    store.save_phase(run, 1, observed)
    store.save_phase(run, 1, abstracted)
    assert time.process_time() - began < 1.0
    assert store.step(run, 1).records == (observed, abstracted)


@pytest.mark.parametrize(
    "change",
    [
        "record = '{'",
        "record = '[]'",
        "record = x'00'",
        "record = '{}'",
        "phase = 'dream'",
        "part = NULL",
        "part = (SELECT min(id) FROM blobs)",
        "base = NULL",
    ],
)
def test_a_record_that_cannot_be_read_is_refused_with_its_place(store, change):
    run = begin(store)
    for record in records():
        store.save_phase(run, 1, record, blobs=BLOBS)
    phase = "act" if change.startswith("record") else "abstract"
    store._database.execute(f"UPDATE phases SET {change} WHERE phase = '{phase}'")
    with pytest.raises(TraceError, match=r"step 1 of run 1 cannot be read|damaged"):
        store.step(run, 1)
    assert store.steps(run)[0].sealed
    assert (store.blob(store.put_blob(HTML, "text/html")), len(PICTURE)) == (HTML, 2048)
