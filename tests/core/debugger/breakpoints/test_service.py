"""The list of breakpoints and watches at the window: changed, answered, and gone back to in a stored run."""

import pytest

from core.debugger.breakpoints.kinds.actions import ActionChosen
from core.debugger.breakpoints.kinds.problems import Condition
from core.debugger.breakpoints.service import BreakpointsService
from core.debugger.breakpoints.views import BreakChange, Watch
from tests.core.trace.making import write_run


class Asked:
    """A service with what it has answered; each command is waited for."""

    def __init__(self, session):
        self.session = session
        self.answers, self.views, self.made = [], [], []
        self.service = BreakpointsService(session)
        self.service.answered.connect(lambda answer: self.answers.append(answer.problem))
        self.service.changed.connect(self.views.append)
        self.service.made.connect(self.made.append)

    def do(self, command, *arguments):
        getattr(self.service, command)(*arguments)
        self.session.done()


@pytest.fixture
def asked(trace, stand_in):
    return Asked(stand_in(store=trace))


def test_each_change_is_answered_and_the_list_is_sent(asked):
    asked.do("add", ActionChosen(target="Save"))
    asked.do("enable", 1, False)
    asked.do("add_watch", Watch(text="run.cost"))
    asked.do("replace_watch", Watch(number=1, text="run.number"))
    asked.do("remove", 1)
    assert asked.answers == [""] * 5
    lists = [
        ([one.breakpoint.enabled for one in view.breakpoints], [one.watch.text for one in view.watches])
        for view in asked.views
    ]
    assert lists == [
        ([True], []),
        ([False], []),
        ([False], ["run.cost"]),
        ([False], ["run.number"]),
        ([], ["run.number"]),
    ]


def test_a_change_that_cannot_be_is_answered_with_what_is_wrong_and_no_list_is_sent(asked):
    asked.do("add", Condition(expression="stap.number > 3"))
    asked.do("remove_watch", 4)
    assert "step" in asked.answers[0]
    assert "no watch 4" in asked.answers[1]
    assert asked.views == []


def test_each_change_is_told_as_it_was_and_is_and_one_that_changes_nothing_is_not(asked):
    stop, watch = ActionChosen(number=1, target="Save"), Watch(number=1, text="run.cost")
    asked.do("add", stop.replace(number=0))
    asked.do("enable", 1, True)
    asked.do("enable", 1, False)
    asked.do("remove", 1)
    asked.do("add_watch", watch.replace(number=0))
    assert asked.made == [
        BreakChange(None, stop),
        BreakChange(stop, stop.replace(enabled=False)),
        BreakChange(stop.replace(enabled=False), None),
        BreakChange(None, watch),
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ActionChosen(number=1, target="Save"), ActionChosen(number=1, target="Send", ignore=2)),
        (Watch(number=1, text="run.cost"), Watch(number=1, text="run.number", on_change=True)),
    ],
)
def test_changes_are_exchanged_both_ways_under_the_same_number(asked, one, other):
    def listed():
        view = asked.views[-1]
        return [*(shown.breakpoint for shown in view.breakpoints), *(shown.watch for shown in view.watches)]

    asked.do("add_watch" if isinstance(one, Watch) else "add", one.replace(number=0))
    for current, wanted, there in ((one, other, [other]), (other, None, []), (None, one, [one])):
        asked.do("exchange", current, wanted)
        assert listed() == there
    assert asked.answers == [""] * 4
    assert len(asked.made) == 1


def test_what_was_changed_meanwhile_is_not_exchanged(asked):
    stop = ActionChosen(number=1, target="Save")
    asked.do("add", stop.replace(number=0))
    asked.do("replace", stop.replace(ignore=3))
    asked.do("exchange", stop, None)
    asked.do("exchange", None, stop)
    assert "was changed or deleted meanwhile" in asked.answers[-2]
    assert "was restored meanwhile" in asked.answers[-1]
    assert [one.breakpoint for one in asked.views[-1].breakpoints] == [stop.replace(ignore=3)]


def test_a_window_that_came_later_is_sent_the_list_as_it_is(asked):
    asked.do("announce")
    asked.do("announce")
    assert [view.breakpoints for view in asked.views] == [(), ()]


def test_before_the_database_is_open_a_change_is_answered_so(stand_in):
    asked = Asked(stand_in())
    asked.do("add", ActionChosen(target="Save"))
    asked.do("announce")
    assert "not open yet" in asked.answers[0]
    assert asked.views == []


def test_going_backwards_shows_the_last_step_that_stops_and_says_why(asked, trace):
    run = write_run(trace, steps=3)
    asked.do("back_to_hit", run, 3)
    assert asked.session.shown == []
    assert asked.session.messages[-1] == f"No breakpoint stops before step 3 of run {run}."
    asked.do("add", ActionChosen(action="click", target="Save"))
    asked.do("back_to_hit", run, 3)
    assert asked.session.shown == [(run, 2)]
    assert asked.session.messages[-1].startswith("Step 2, after ")


def test_going_back_to_a_change_shows_both_values_or_says_that_there_is_none(asked, trace):
    run = write_run(trace, steps=3)
    asked.do("add_watch", Watch(text="step.number"))
    asked.do("back_to_change", 1, run, 3)
    assert asked.session.shown == [(run, 2)]
    assert asked.session.messages[-1].endswith("step.number: 1 → 2")
    asked.do("back_to_change", 1, run, 1)
    assert f"has not changed before step 1 of run {run}" in asked.session.messages[-1]
    asked.do("back_to_change", 7, run, 3)
    assert asked.session.messages[-1] == "There is no watch 7."
