"""Watches: what they show from event to event, and where they changed."""

import pytest

from core.debugger.breakpoints.stored_events import events_of, last_change
from core.debugger.breakpoints.views import PageValue, Watch
from core.debugger.breakpoints.watches import Watches
from core.schema.errors import UsageError
from core.trace.store import TraceStore
from tests.core.trace.making import page, start, write_run, write_step


@pytest.fixture
def run(trace):
    """Three steps; the page has another button in the third."""
    number = trace.begin_run(start())
    for step, names in enumerate((("Save",), ("Save",), ("Save", "Send")), start=1):
        write_step(trace, number, step, observation=page(*names))
    return number


BUTTONS = Watch(text="[e.name for e in page.elements]")


def test_watches_are_there_again_when_the_database_is_opened_again(trace):
    watches = Watches(trace)
    kept = [watches.add(Watch(kind=kind, text="page.url", on_change=True)) for kind in ("expression", "css")]
    script = watches.add(Watch(kind="script", text="document.title"))
    watches.replace(script.replace(text="location.href"))
    watches.remove(kept[0].number)
    trace.close()
    again = TraceStore.open(trace.path)
    assert Watches(again).all == (kept[1], Watch(number=3, kind="script", text="location.href"))
    again.close()


def test_a_value_is_shown_and_marked_as_changed_at_the_moment_it_changes(trace, run):
    watches = Watches(trace)
    watches.add(BUTTONS)
    shown = [(event, *watches.read(event)) for event in events_of(trace, run)]
    changes = [(one.figures.step, one.where, one.phase, value.text) for one, value in shown if value.changed]
    assert changes == [
        (1, "after", "observe", "Save"),
        (3, "after", "observe", "Save, Send"),
    ]


def test_moments_that_were_not_looked_at_do_not_hide_a_change(trace, run):
    watches = Watches(trace)
    watches.add(Watch(text="page.elements[1].name"))
    at = [event for event in events_of(trace, run) if event.is_at("before", "act")]
    assert [watches.read(event)[0].changed for event in at] == [False, False, True]


def test_a_change_stops_the_run_where_that_is_asked_for(trace, run):
    watches = Watches(trace)
    watches.add(BUTTONS)
    number = watches.add(Watch(text="step.number", on_change=True)).number
    hits = [hit for event in events_of(trace, run) for hit in watches.check(event)[1]]
    assert [(hit.step, hit.watch, hit.breakpoint, hit.stopped) for hit in hits] == [
        (2, number, None, True),
        (3, number, None, True),
    ]
    assert hits[0].sentence == "step.number changed: 1 → 2"
    assert trace.stops.hits(run) == tuple(hits)
    watches.remove(number)
    assert watches.add(BUTTONS).number == 3


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ([f"b{at}" for at in range(30)], [*(f"b{at}" for at in range(29)), "other"], BUTTONS.text),
        (["x" * 3000 + "1"], ["x" * 3000 + "2"], "page.elements[0].name"),
        (["a" * 1000], ["a" * 1001], "1 / len(page.elements[0].name) - 1000"),
    ],
)
def test_a_change_beyond_what_is_shown_stops_the_run(trace, before, after, text):
    number = trace.begin_run(start())
    for step, names in enumerate((before, after), start=1):
        write_step(trace, number, step, observation=page(*names))
    watches = Watches(trace)
    watch = watches.add(Watch(text=text, on_change=True))
    _, hit = (hit for event in events_of(trace, number) for hit in watches.check(event)[1])
    assert (hit.step, hit.phase) == (2, "observe")
    assert hit.sentence.startswith(f"{text} changed: ")
    assert hit.sentence.endswith(" (beyond what is shown)")
    assert last_change(trace, number, 3, watch).step == 2


def test_values_of_the_page_are_taken_as_they_were_read_and_kept_meanwhile(trace, run):
    watches = Watches(trace)
    heading = watches.add(Watch(kind="css", text="h1", on_change=True))
    first, second, third, fourth, *_ = events_of(trace, run)
    assert [(one.text, one.changed) for one in watches.read(first)] == [("", False)]
    (values, hits) = watches.check(second, {heading: PageValue(text="Start")})
    assert ((values[0].text, values[0].changed), hits) == (("Start", False), ())
    (values, hits) = watches.check(third)
    assert ((values[0].text, values[0].changed), hits) == (("Start", False), ())
    (values, (hit,)) = watches.check(fourth, {heading: PageValue(error="The page has no h1.")})
    assert (values[0].error, values[0].changed) == ("The page has no h1.", True)
    assert hit.sentence == "h1 changed: Start → The page has no h1."


def test_a_watch_of_the_page_that_was_edited_begins_without_the_value_of_its_old_text(trace, run):
    watches = Watches(trace)
    heading = watches.add(Watch(kind="css", text="h1", on_change=True))
    first, second, third, *_ = events_of(trace, run)
    watches.check(first, {heading: PageValue(text="Start")})
    title = heading.replace(kind="script", text="document.title")
    watches.replace(title)
    assert watches.check(second, {heading: PageValue(text="Start")})[0][0].text == ""
    (value,), hits = watches.check(third, {title: PageValue(text="Shop")})
    assert ((value.text, value.changed), hits) == (("Shop", False), ())


def test_a_value_of_the_page_is_compared_whole(trace, run):
    watches = Watches(trace)
    text = watches.add(Watch(kind="css", text="p", on_change=True))
    first, second, *_ = events_of(trace, run)
    watches.check(first, {text: PageValue(text="aaa…", whole=hash("aaab"))})
    _, (hit,) = watches.check(second, {text: PageValue(text="aaa…", whole=hash("aaac"))})
    assert hit.sentence == "p changed: aaa… (beyond what is shown)"


def test_another_run_begins_with_no_values(trace, run):
    watches = Watches(trace)
    watches.add(Watch(text="run.number", on_change=True))
    for number in (run, write_run(trace)):
        assert all(not watches.check(event)[1] for event in events_of(trace, number))


def test_a_watch_that_fails_shows_why_and_no_run_is_held_up(trace, run):
    watches = Watches(trace)
    watches.add(Watch(text="page.url > 3"))
    last = [watches.read(event)[0] for event in events_of(trace, run)][-1]
    assert "text and a number cannot be compared" in last.error
    with pytest.raises(UsageError, match="did you mean page"):
        watches.add(Watch(text="pge"))


def test_the_last_change_is_found_among_stored_steps(trace, run):
    change = last_change(trace, run, 4, BUTTONS)
    assert (change.step, change.phase) == (3, "observe")
    assert (change.before.text, change.after.text) == ("Save", "Save, Send")
    url = Watch(text="run.task")
    assert last_change(trace, run, 4, url) is None
    assert last_change(trace, run, 1, BUTTONS) is None
    with pytest.raises(UsageError, match="not stored"):
        last_change(trace, run, 4, Watch(kind="xpath", text="//h1"))


def test_what_is_damaged_is_reported_and_can_be_removed(trace):
    trace.stops.add("watches", {"kind": "smell", "text": "page.url", "on_change": False})
    trace.stops.add("watches", {"kind": "css", "text": "", "on_change": False})
    watches = Watches(trace)
    assert watches.all == ()
    assert watches.problems[0].startswith("Watch 1 (smell) cannot be read from ")
    watches.remove(1)
    assert len(watches.problems) == len(Watches(trace).problems) == 1
    with pytest.raises(UsageError, match="no watch 1; there are 2"):
        watches.remove(1)
