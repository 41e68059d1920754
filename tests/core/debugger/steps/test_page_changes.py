import pytest

from core.debugger.steps.view import page_changes
from core.schema.observation import Box, Element, Observation
from tests.core.stage import on, page_file, stop

PLACE = Box(x=0, y=0, width=10, height=10)


def page(*elements: tuple[int, str, str]) -> Observation:
    return Observation(
        url="http://page/",
        elements=tuple(Element(ref=ref, role=role, name=name, box=PLACE) for ref, role, name in elements),
    )


def test_without_a_step_before_nothing_is_compared():
    assert not page_changes(None, page((1, "button", "Go"))).compared


def test_new_changed_and_gone_elements_are_told_apart():
    before = page((1, "button", "Go"), (2, "text", "0 items"), (3, "link", "Home"))
    changes = page_changes(before, page((1, "button", "Go"), (2, "text", "1 item"), (4, "link", "Checkout")))
    assert changes.new == (4,)
    assert changes.changed == {2: 'text "0 items"'}
    assert changes.gone == 1


def test_elements_that_a_page_made_anew_with_the_same_words_are_no_change():
    before = page((1, "button", "Go"), (2, "text", "Row"), (3, "text", "Row"))
    changes = page_changes(before, page((11, "button", "Go"), (12, "text", "Row"), (13, "text", "Row")))
    assert (changes.new, changes.changed, changes.gone) == ((), {}, 0)


def test_one_element_more_of_the_same_words_is_new():
    changes = page_changes(page((1, "text", "Row")), page((11, "text", "Row"), (12, "text", "Row")))
    assert changes.new == (12,)


@pytest.mark.browser
def test_the_step_under_way_and_the_recorded_one_tell_the_same_changes(live, server, tmp_path):
    html = "<button onclick=\"this.after('There it is'); this.textContent = 'Gone'\">Go</button>"
    server.script(on('button "Go"'), on('button "Gone"'), stop("x"))
    live.open("web/open", url=page_file(tmp_path, html), instruction="Go.")
    first = live.to_review()
    assert not first.observation.changes.compared
    live.session.run_commands.step()
    live.wait(lambda: live.step is not None and live.step.number == 2 and live.step.action.editable)
    second = live.step.observation
    assert list(second.changes.changed.values()) == ['button "Go"']
    assert len(second.changes.new) == 1
    run = live.view.run
    live.session.run_commands.run()
    live.wait_mode("ended")
    live.session.trace.show_step(run, 1)
    live.wait(lambda: not live.step.live)
    assert live.step.observation.changes == first.observation.changes
    live.session.trace.show_step(run, 2)
    live.wait(lambda: live.step.number == 2)
    assert live.step.observation.changes == second.changes
