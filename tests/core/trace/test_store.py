import time

import pytest

from core.schema.action import Click, GoBack, RefTarget, Stop
from core.schema.errors import TraceError
from core.schema.events import BrowserEvent, LogLine
from core.schema.messages import Image, LLMReply, LLMRequest, Message, Retry, Tool, Usage
from core.schema.observation import CleanObservation
from core.schema.step import Abstracted, Acted, CallRecord, Decided, Observed, Proposal, Reviewed
from core.schema.task import Verdict
from core.trace.blobs import hash_of
from core.trace.calls import stored_prompt, stored_reply
from core.trace.encoding import encode_prompt, encode_reply
from core.trace.records import Hit, Intervention, WatchRow
from core.trace.store import TraceStore
from tests.core.trace.making import (
    BLOBS,
    HTML,
    PICTURE,
    limit_to,
    page,
    records,
    start,
    write_run,
    write_step,
)


def test_a_run_is_read_back_as_it_was_begun_and_ended(store):
    before = time.time()
    run = store.begin_run(start("Save it", seed=2**62))
    assert store.run(run).outcome == "running"
    verdict = Verdict(success=False, reward=-1.0, judge="page", reason="Too late.")
    store.end_run(run, outcome="done", verdict=verdict, answer="42", seconds=3.5, seconds_in_llm=1.5)
    row = store.run(run)
    assert (row.instruction, row.seed, row.outcome) == ("Save it", 2**62, "done")
    assert (row.verdict, row.answer, row.seconds, row.seconds_in_llm) == (verdict, "42", 3.5, 1.5)
    assert before <= row.started <= row.ended <= time.time()
    assert store.preset_text(run) == "title = 'Plain'\n"


def ended(store, run, files):
    store.end_run(run, outcome="done", verdict=Verdict(), seconds=1.0, seconds_in_llm=0.5, own_files=files)
    return store.own_files(run)


def test_an_own_file_that_changed_during_a_run_has_no_text_and_the_others_keep_theirs(store):
    texts = {"policies/a.md": "a", "policies/b.md": "b", "policies/c.md": "c"}
    run = store.begin_run(start().replace(own_files=texts))
    now = {"policies/a.md": "a", "policies/b.md": "B", "policies/d.md": "d"}
    known = {"policies/a.md": "a", "policies/b.md": None, "policies/c.md": None, "policies/d.md": None}
    assert ended(store, run, now) == known
    # When it is taken up and ended again, what was unknown stays so.
    assert ended(store, run, texts) == known
    assert ended(store, store.begin_run(start()), texts) is None


def test_own_files_that_did_not_change_are_known_though_a_secret_of_theirs_was_learnt_since(store):
    texts = {"policies/a.md": "Log in with mango-tree-12.", "policies/b.md": "https://ann:pass-word-9@x.org"}
    run = store.begin_run(start().replace(own_files=texts))
    begun = store.own_files(run)
    store.secrets.add("password", "mango-tree-12")
    assert ended(store, run, texts) == begun
    again = store.begin_run(start().replace(own_files=texts))
    assert "mango" not in store.own_files(again)["policies/a.md"]
    assert "pass-word-9" not in store.own_files(again)["policies/b.md"]
    known = ended(store, again, texts)
    assert known == store.own_files(again)
    assert None not in known.values()


def test_a_run_ends_though_what_is_stored_of_its_files_is_damaged(store):
    run = store.begin_run(start().replace(own_files={"policies/a.md": "a"}))
    with store._write():
        blob, _ = store._database.blobs.put_damaged("0" * 64)
        store._database.update("runs", {"run": run}, {"own_files": blob})
    store.end_run(run, outcome="done", verdict=Verdict(), seconds=1.0, seconds_in_llm=0.5, own_files={})
    assert store.run(run).outcome == "done"


def test_a_verdict_can_be_given_later(store):
    run = write_run(store)
    store.set_verdict(run, Verdict(success=True, judge="person"))
    assert store.run(run).verdict == Verdict(success=True, judge="person")


def test_a_branch_knows_where_it_comes_from(store):
    run = write_run(store)
    branch = store.begin_run(start().replace(parent_run=run, parent_step=2))
    assert (store.run(branch).parent_run, store.run(branch).parent_step) == (run, 2)


def test_a_step_gives_back_equal_records_in_order(store):
    run = store.begin_run(start())
    write_step(store, run, 1)
    assert store.step(run, 1).records == tuple(records())


def test_a_step_is_read_back_the_same_by_another_store(store, path):
    run = store.begin_run(start())
    write_step(store, run, 1)
    other = TraceStore.open(path)
    assert other.step(run, 1) == store.step(run, 1)
    other.close()


def test_a_phase_done_again_replaces_its_first_record(store):
    run = store.begin_run(start())
    write_step(store, run, 1, until="abstract")
    again = next(records(page("Other", "Save")))
    store.save_phase(run, 1, again)
    detail = store.step(run, 1)
    assert [record.phase for record in detail.records] == ["observe", "recognise", "recall", "abstract"]
    assert detail.records[0] == again
    assert detail.records[3] == list(records())[3]


def test_a_clean_observation_without_its_observation_is_kept_whole(store):
    run = store.begin_run(start())
    store.begin_step(run, 1)
    record = Abstracted(clean=CleanObservation(url="x", elements=page("Save").elements, text="Save"))
    store.save_phase(run, 1, record)
    assert store.step(run, 1).records == (record,)


@pytest.mark.parametrize(
    ("until", "expected"),
    [
        (
            "observe",
            {"url": "http://127.0.0.1:1/save.html", "title": "Save", "state": "", "outcome": "pending"},
        ),
        ("recognise", {"state": "form", "action": ""}),
        ("decide", {"thought": "The draft is to be saved.", "action": "click [1]", "outcome": "pending"}),
        ("review", {"origin": "agent", "action": "click [1]", "edited": False, "target": ""}),
        ("act", {"outcome": "done", "effect": "page action", "target": 'button "Save"', "sealed": False}),
        ("commit", {"sealed": True, "seconds": 0.5, "seconds_in_llm": 0.25}),
    ],
)
def test_the_row_of_a_step_tells_what_its_phases_found(store, until, expected):
    run = store.begin_run(start())
    write_step(store, run, 1, until=until)
    row = store.steps(run)[0].model_dump()
    assert row["phase"] == until
    assert {name: row[name] for name in expected} == expected


def test_what_a_person_changed_shows_in_the_row_and_touches_the_run(store):
    run = store.begin_run(start())
    write_step(store, run, 1, until="decide")
    assert store.run(run).touched is False
    proposed, action = Click(target=RefTarget(ref=1)), GoBack()
    store.save_phase(run, 1, Reviewed(origin="person", action=action, proposed=proposed, edited=True))
    row = store.step(run, 1).row
    assert (row.origin, row.action, row.edited, row.thought) == ("person", "go_back", True, "")
    assert store.run(run).touched is True


def test_a_reply_that_cannot_be_used_says_why_in_the_row(store):
    run = store.begin_run(start())
    store.begin_step(run, 1)
    store.save_phase(run, 1, Decided(proposal=Proposal(problem="It names no action.")))
    assert store.steps(run)[0].message == "It names no action."
    store.save_phase(run, 1, Acted(effect="none", outcome="failed", message="No action was named."))
    assert (store.steps(run)[0].message, store.steps(run)[0].outcome) == ("No action was named.", "failed")


def test_an_intervention_touches_the_run_and_belongs_to_its_step(store):
    run = store.begin_run(start())
    write_step(store, run, 1)
    change = Intervention(
        run=run, step=1, kind="edit", who="person", when=1.5, before="click [1]", after="stop"
    )
    store.save_intervention(change)
    assert store.step(run, 1).interventions == (change,)
    assert store.interventions(run) == (change,)
    assert store.run(run).touched is True


def test_a_call_is_stored_as_begun_and_again_as_ended(store):
    run = store.begin_run(start())
    store.begin_step(run, 1)
    request = LLMRequest(
        purpose="decide",
        messages=(Message(role="user", text="Look.", images=(Image(data=PICTURE),)),),
        tools=(Tool(name="click"),),
    )
    prompt = encode_prompt(request)
    call = CallRecord(number=1, step=1, purpose="decide", llm="some", messages=prompt.hash, started=5.0)
    store.calls.save(run, call, blobs=prompt.blobs)
    assert store.step(run, 1).calls == (call,)
    assert stored_reply(store, call) is None
    assert (store.run(run).llm_calls, store.run(run).cost) == (1, None)
    reply = LLMReply(text="Yes.", usage=Usage(prompt_tokens=10, completion_tokens=2, cached_tokens=4))
    name, blob = encode_reply(reply)
    ended = call.replace(
        reply=name,
        usage=reply.usage,
        cost=0.5,
        seconds=1.5,
        model="some-1",
        retries=(Retry(reason="busy", waited=1.0),),
    )
    store.calls.save(run, ended, blobs=[blob])
    assert store.calls.of(run) == (ended,)
    assert stored_reply(store, ended) == reply
    assert stored_prompt(store, ended).messages == request.messages
    assert stored_prompt(store, ended).tools == request.tools
    row = store.run(run)
    assert (row.llm_calls, row.prompt_tokens, row.completion_tokens, row.cost) == (1, 10, 2, 0.5)


def test_the_cost_of_a_run_counts_the_calls_that_have_a_price(store):
    run = store.begin_run(start())
    name = store.put_blob(b"{}", "application/json")
    for number, cost in ((1, 0.25), (2, None), (3, 0.5)):
        call = CallRecord(
            number=number, step=1, purpose="decide", llm="x", messages=name, started=1.0, cost=cost
        )
        store.calls.save(run, call)
    assert (store.run(run).llm_calls, store.run(run).cost) == (3, 0.75)


def test_events_and_log_lines_keep_their_order_and_their_run(store):
    run = store.begin_run(start())
    events = [BrowserEvent(kind="dialog", text="It asked."), BrowserEvent(kind="crash", text="It died.")]
    for step, event in enumerate(events):
        store.pages.save_event(run, step, event)
    assert [(one.step, one.event) for one in store.pages.events(run)] == list(enumerate(events))
    lines = [LogLine(time=float(n), source="trace", text=str(n)) for n in range(4)]
    for line in lines:
        store.save_log(run, line)
    store.save_log(None, LogLine(time=9.0, level="error", source="window", text="no run"))
    assert store.log(run) == tuple(lines)
    assert store.log(run, limit=2) == tuple(lines[2:])
    assert [line.text for line in store.log()] == ["no run"]


def test_the_times_of_a_run_under_way_follow_its_sealed_steps(store):
    run = store.begin_run(start())
    write_step(store, run, 1)
    write_step(store, run, 2, until="act")
    row = store.run(run)
    assert (row.steps, row.seconds, row.seconds_in_llm) == (2, 0.5, 0.25)


def test_steps_come_in_order_with_their_trial(store):
    run = store.begin_run(start())
    store.begin_step(run, 1)
    store.begin_step(run, 2, trial=2)
    assert [(step.number, step.trial) for step in store.steps(run)] == [(1, 1), (2, 2)]


def test_what_is_not_there_is_named_with_what_is(store):
    with pytest.raises(TraceError, match=r"no run 1 .* contains no runs yet"):
        store.run(1)
    for _ in range(3):
        store.begin_run(start())
    with pytest.raises(TraceError, match=r"no run 9 .*; the nearest is 3"):
        store.run(9)
    with pytest.raises(TraceError, match="Run 2 has no step 1: it has no steps"):
        store.step(2, 1)
    store.begin_step(2, 1)
    with pytest.raises(TraceError, match="Run 2 has no step 5; its only step is 1"):
        store.step(2, 5)
    store.begin_step(2, 2)
    with pytest.raises(TraceError, match="its steps are 1 to 2"):
        store.step(2, 5)
    with pytest.raises(TraceError, match="no run 7"):
        store.steps(7)
    with pytest.raises(TraceError, match="no blob 00ff"):
        store.blob("00ff")


def test_writing_to_what_was_not_begun_is_refused(store):
    with pytest.raises(TraceError, match="no run 4"):
        store.begin_step(4, 1)
    run = store.begin_run(start())
    with pytest.raises(TraceError, match="has no step 1 to save to; start the step first"):
        store.save_phase(run, 1, next(records()), blobs=BLOBS)
    store.begin_step(run, 1)
    with pytest.raises(TraceError, match="already has a step 1"):
        store.begin_step(run, 1)
    with pytest.raises(TraceError, match="no run 8"):
        store.end_run(8, outcome="done", verdict=Verdict(), seconds=1, seconds_in_llm=1)


def test_a_record_that_names_an_unknown_blob_is_refused_whole(store):
    run = store.begin_run(start())
    store.begin_step(run, 1)
    with pytest.raises(TraceError, match="store the blob before you refer to it"):
        store.save_phase(run, 1, Observed(observation=page("Save"), html=hash_of(b"never stored")))
    assert store.step(run, 1).records == ()
    assert store.steps(run)[0].url == ""


def test_numbers_beyond_what_the_database_holds_are_refused_with_a_sentence(store):
    with pytest.raises(TraceError, match="too large"):
        store.begin_run(start(seed=2**70))


def test_a_full_disk_leaves_all_that_was_saved_before(store, path):
    run = write_run(store)
    before = store.step(run, 2)
    store.begin_step(run, 3)
    limit_to(store, more_pages=8)
    big = Stop(answer="".join(str(number**3) for number in range(60_000)))
    with pytest.raises(TraceError, match="no space left"):
        store.save_phase(run, 3, Decided(proposal=Proposal(action=big)), blobs=[(HTML, "text/html")])
    assert store.step(run, 2) == before
    assert store.step(run, 3).records == ()
    limit_to(store, more_pages=10_000)
    store.save_phase(run, 3, Decided(proposal=Proposal(action=big)))
    assert store.step(run, 3).row.action == str(big)
    store.check()


def test_blobs_put_in_a_failed_transaction_serve_no_later_one(store):
    run = store.begin_run(start())
    limit_to(store, more_pages=4)
    names = " ".join(f"name{number}" for number in range(9000)).encode()
    with pytest.raises(TraceError, match="no space left"):
        store.calls.save(
            run,
            CallRecord(number=1, step=1, purpose="decide", llm="x", messages=hash_of(names), started=1.0),
            blobs=[(names, "text/plain"), (bytes(range(256)) * 400, "image/webp")],
        )
    limit_to(store, more_pages=10_000)
    name = store.put_blob(names + b" and one more", "text/plain")
    assert store.blob(name) == names + b" and one more"


def test_a_store_opened_to_be_read_refuses_to_write(store, path):
    run = write_run(store)
    reader = TraceStore.open(path, read_only=True)
    assert reader.run(run) == store.run(run)
    with pytest.raises(TraceError, match="opened read-only"):
        reader.begin_run(start())
    reader.close()


def test_breakpoints_and_watches_are_numbered_apart_and_read_back(store):
    assert [
        store.stops.add("breakpoints", {"kind": "loop", "definition": "{}"}),
        store.stops.add("breakpoints", {"kind": "error", "definition": '{"of": "call"}'}),
    ] == [1, 2]
    assert store.stops.add("watches", {"kind": "css", "text": "h1", "on_change": True}) == 1
    store.stops.replace("breakpoints", 1, {"kind": "not aligned", "definition": "{}"})
    store.stops.replace("watches", 1, {"kind": "expression", "text": "page.url", "on_change": False})
    assert [(row.number, row.kind, row.definition, row.hits) for row in store.stops.breakpoints()] == [
        (1, "not aligned", "{}", 0),
        (2, "error", '{"of": "call"}', 0),
    ]
    assert store.stops.watches() == (WatchRow(number=1, kind="expression", text="page.url"),)
    store.stops.remove("breakpoints", 2)
    store.stops.remove("watches", 1)
    assert (len(store.stops.breakpoints()), store.stops.watches()) == (1, ())


def test_hits_are_counted_with_their_breakpoint_and_outlive_it(store):
    run = write_run(store)
    number = store.stops.add("breakpoints", {"kind": "loop", "definition": "{}"})
    hit = Hit(
        run=run, step=2, phase="review", breakpoint=number, sentence="Half: \ud800", stopped=True, time=1.5
    )
    store.stops.save_hits([hit, hit.replace(step=1, stopped=False)])
    store.stops.save_hits([hit.replace(breakpoint=None, watch=4)])
    assert store.stops.breakpoints()[0].hits == 2
    store.stops.remove("breakpoints", number)
    stored = hit.replace(sentence="Half: ?")
    assert [(one.step, one.stopped, one.watch) for one in store.stops.hits(run)] == [
        (2, True, None),
        (1, False, None),
        (2, True, 4),
    ]
    assert store.stops.hits(run)[0] == stored
    assert store.stops.add("breakpoints", {"kind": "loop", "definition": "{}"}) == number + 1
    assert store.stops.add("watches", {"kind": "css", "text": "h1", "on_change": True}) == 5


def test_a_hit_of_a_run_that_is_not_there_leaves_nothing_of_its_kind_stored(store):
    run = write_run(store)
    number = store.stops.add("breakpoints", {"kind": "loop", "definition": "{}"})
    hit = Hit(run=run, step=1, phase="act", breakpoint=number, sentence="So.", stopped=True, time=1.0)
    with pytest.raises(TraceError, match="no run 9"):
        store.stops.save_hits([hit, hit.replace(run=9)])
    assert store.stops.hits(run) == ()
    assert store.stops.breakpoints()[0].hits == 0


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("http://shop.example/", "", "person: took the page (http://shop.example/)"),
        (
            "",
            "2 recorded, at http://shop.example/cart",
            "person: gave back the page (2 recorded, at http://shop.example/cart)",
        ),
    ],
)
def test_who_had_the_page_is_said_in_words(before, after, words):
    told = Intervention(run=1, step=2, kind="handover", who="person", when=0.0, before=before, after=after)
    assert told.in_words == words
