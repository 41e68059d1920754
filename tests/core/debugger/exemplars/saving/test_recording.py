"""Recording a demonstration with real mouse and keys: one action a field, nothing that is noise, elements that are in
their looks, and a trajectory that succeeds again."""

import threading
import time

import pytest

from core.debugger.exemplars.saving.selection import exemplar_of_run
from core.debugger.exemplars.saving.service import RecordingService
from core.debugger.exemplars.saving.views import RecordingView
from core.debugger.exemplars.scripted import Look, perform, written
from core.exemplars.checks import check_actions, fault
from core.schema.action_text import parse_action
from core.schema.errors import BackstepError
from tests.core.stage import page_file

pytestmark = pytest.mark.browser


class Recording:
    """The service, and what it has sent."""

    def __init__(self, live):
        self.live = live
        self.service = RecordingService(live.session)
        self.view = RecordingView()
        self.recorded = []
        self._changed = threading.Condition()
        self.service.changed.connect(lambda view: self._keep("view", view))
        self.service.recorded.connect(lambda recorded: self._keep("recorded", [*self.recorded, recorded]))

    def _keep(self, name, value):
        with self._changed:
            setattr(self, name, value)
            self._changed.notify_all()

    def wait(self, condition):
        with self._changed:
            assert self._changed.wait_for(lambda: condition(self), 30), (self.view, self.live.view)

    def begin(self, *, fresh=False):
        self.service.record(fresh=fresh)
        self.wait(lambda one: one.view.recording)

    def end(self):
        self.service.finish()
        self.wait(lambda one: one.recorded)
        return self.recorded[-1]

    def until(self, met):
        """Wait for what nobody announces."""
        deadline = time.monotonic() + 30
        while not met():
            assert time.monotonic() < deadline
            self.live.settle()

    def does(self, *actions):
        """Act with real mouse and keys, past the agent; elements by role and name."""
        assert self.tries(*actions)

    def tries(self, *actions):
        """Do the same, and return whether it could be done."""
        done = threading.Event()
        failed = []

        async def work():
            tabs, world = self.live.session.services().tabs, self.live.session.agent_run.world
            try:
                for text in actions:
                    before = tabs.mark()
                    await world.actor.act(parse_action(text))
                    await tabs.settle(before)
            except BackstepError as error:
                failed.append(error)
            done.set()

        self.live.session.queue(work())
        assert done.wait(30)
        return not failed

    def kept(self, recorded):
        store = self.live.store()
        try:
            return exemplar_of_run(store, recorded.run, first=recorded.steps[0], last=recorded.steps[-1])
        finally:
            store.close()


@pytest.fixture
def recording(live):
    live.session.agent.set_preset("step")
    return Recording(live)


def kinds(exemplar):
    return [action.split(" ")[0] for look in exemplar.steps for action in look.actions]


def login(recording):
    """Record how the person logs in, as the task says; return what was recorded."""
    instruction = recording.live.view.instruction
    name, word = instruction.split('"')[1], instruction.split('"')[3]
    elements = recording.live.session.agent_run.state.observation.elements
    fields = [one.ref for one in elements if one.role == "textbox"]
    recording.does(
        f"click [{fields[0]}]",
        *(f"press [{letter}]" for letter in name),
        f"click [{fields[1]}]",
        *(f"press [{letter}]" for letter in word),
        'click [button "Login"]',
    )


def test_a_task_done_by_hand_is_one_action_a_field_and_succeeds_again(recording):
    live = recording.live
    live.open("miniwob/login-user", seed=3)
    recording.begin()
    login(recording)
    recording.wait(lambda one: one.recorded)  # The task is over: nothing has to be pressed.
    live.wait_mode("ended")
    assert live.view.success is True
    kept = recording.kept(recording.recorded[0])
    exemplar = kept.exemplar
    assert kinds(exemplar) == ["type", "type", "click"]
    assert kept.provenance.origin == "demonstration"
    assert list(check_actions(exemplar)) == []

    async def again():
        services = live.session.services()
        task = services.environments.find("miniwob/login-user")
        looks = written(Look(actions=one.actions) for one in exemplar.steps)
        return await perform(services.world(task), task, 3, looks)

    result = []
    done = threading.Event()

    async def work():
        try:
            result.append(await again())
        finally:
            done.set()

    live.session.queue(work())
    assert done.wait(60)
    assert result[0].problem == ""


def test_letters_that_were_typed_over_and_clicks_of_a_double_click_are_noise(recording, tmp_path):
    live = recording.live
    url = page_file(
        tmp_path,
        "<label>Name <input></label> <label>Size <select><option>S<option>M<option>L</select></label>"
        "<button ondblclick=\"document.title='two'\">Twice</button>",
    )
    live.open("web/open", url=url, instruction="Order it.")
    recording.begin()
    recording.does(
        'type [textbox "Name"] [Ad]',
        "press [Tab]",
        'type [textbox "Name"] [Ada]',
        "press [Tab]",
        "press [L]",
        'double_click [button "Twice"]',
    )
    recorded = recording.end()
    kept = recording.kept(recorded)
    assert kinds(kept.exemplar) == ["type", "select", "double_click"]
    assert "[Ada]" in kept.exemplar.steps[0].actions[0]
    assert list(check_actions(kept.exemplar)) == []
    assert not live.view.handed_over


def test_an_entry_that_came_up_under_a_field_is_in_its_look_and_what_it_wrote_was_not_typed(recording):
    live = recording.live
    live.open("miniwob/use-autocomplete", seed=1)
    start = live.view.instruction.split('"')[1]
    recording.begin()
    field = next(
        one.ref for one in live.session.agent_run.state.observation.elements if one.role == "textbox"
    )
    recording.does(f"click [{field}]", *(f"press [{letter}]" for letter in start))
    entry = '//ul[contains(@class, "ui-autocomplete")]/li'
    human_actions = live.session.live_page.demonstrating.human_actions
    recording.until(lambda: recording.tries(f"hover [xpath={entry}]"))
    recording.until(
        lambda: (
            human_actions.looked is not None
            and "listitem" in {one.role for one in human_actions.looked.observation.elements}
        )
    )
    recording.does(f"click [xpath={entry}]", 'click [button "Submit"]')
    recording.wait(lambda one: one.recorded)
    kept = recording.kept(recording.recorded[0])
    assert kinds(kept.exemplar) == ["type", "click", "click"]
    assert f"[{start}]" in kept.exemplar.steps[0].actions[0]
    assert list(check_actions(kept.exemplar)) == []


def test_what_was_typed_is_recorded_before_the_person_leaves_the_page(recording, tmp_path):
    live = recording.live
    live.open("web/open", url=page_file(tmp_path, "<label>Name <input></label>"), instruction="Fill it in.")
    recording.begin()
    recording.does('click [textbox "Name"]', "press [A]", "press [d]", "press [a]")
    recorded = []
    left = threading.Event()

    def leave():
        store = live.store()
        recorded.extend(one.action for one in store.steps(live.view.run) if one.sealed)
        store.close()
        left.set()

    live.session.live_page.before_leaving(leave)
    assert left.wait(30)
    assert [one.partition(" ")[0] for one in recorded] == ["type"]
    assert recorded[0].endswith("[Ada]")


def test_a_password_becomes_a_secret_of_the_task_and_plays_where_the_task_declares_it(recording, tmp_path):
    live = recording.live
    url = page_file(
        tmp_path,
        "<label>Name <input></label> <label>Password <input type=password></label>"
        "<button onclick=\"document.title = document.querySelectorAll('input')[1].value.length\">In</button>",
    )
    live.open("web/open", url=url, instruction="Log in.")
    recording.begin()
    recording.does('type [textbox "Password"] [Tr0ub4dor&3]', "press [Tab]", 'click [button "In"]')
    exemplar = recording.kept(recording.end()).exemplar
    assert exemplar.steps[0].actions[0].endswith("[<secret:password>]")
    assert "Tr0ub4dor" not in exemplar.model_dump_json()
    assert fault(exemplar) == ""
    live.session.services().tabs.secrets["password"] = "Tr0ub4dor&3"
    assert recording.tries(*(action for look in exemplar.steps for action in look.actions))


def test_a_search_sent_by_enter_is_recorded_in_the_page_that_it_was_sent_from(recording):
    live = recording.live
    live.open("shop/goal-000")
    recording.begin()
    field = next(
        one.ref for one in live.session.agent_run.state.observation.elements if one.role == "searchbox"
    )
    recording.does(f"click [{field}]", *(f"press [{letter}]" for letter in "lamp"), "press [Enter]")
    kept = recording.kept(recording.end())
    assert kinds(kept.exemplar) == ["type", "press"]
    assert f'[{field}] searchbox "Keywords" value="lamp"' in kept.exemplar.steps[1].observation
    assert list(check_actions(kept.exemplar)) == []


def test_recording_from_the_start_opens_the_task_anew(recording, server):
    live = recording.live
    live.open("miniwob/click-test")
    first = live.view.run
    recording.begin(fresh=True)
    assert live.view.run != first
    recording.does('click [button "Click Me!"]')
    recording.wait(lambda one: one.recorded)
    assert recording.recorded[0].run == live.view.run
    kept = recording.kept(recording.recorded[0])
    assert kinds(kept.exemplar) == ["click"]


def test_a_recording_that_is_thrown_away_leaves_its_steps_in_the_run(recording, tmp_path):
    live = recording.live
    live.open("web/open", url=page_file(tmp_path, "<button>One</button>"), instruction="Press it.")
    recording.begin()
    recording.does('click [button "One"]')
    recording.wait(lambda one: one.view.steps == 1)
    recording.service.cancel()
    recording.wait(lambda one: not one.view.recording)
    live.wait(lambda: not live.view.handed_over)
    live.settle()
    assert recording.recorded == []
    store = live.store()
    assert [one.origin for one in store.own_steps(live.view.run)][:1] == ["person"]
    store.close()


def test_without_a_task_it_says_what_to_do(live):
    recording = Recording(live)
    live.session._current.run = None
    recording.service.record(fresh=False)
    live.wait(lambda: "Open a task first" in live.told)
    assert not recording.view.recording


def test_another_task_ends_the_recording(recording, tmp_path):
    live = recording.live
    live.open("web/open", url=page_file(tmp_path, "<button>One</button>"), instruction="Press it.")
    recording.begin()
    live.open("miniwob/click-test")
    recording.wait(lambda one: not one.view.recording)
    assert recording.recorded == []
