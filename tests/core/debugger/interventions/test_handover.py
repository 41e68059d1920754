"""The person has the page: what they do becomes steps of theirs, which can be gone back to and done again."""

import asyncio
import sqlite3
import threading

import pytest

from core.schema.action_text import parse_action
from tests.core.stage import on, page_file
from tests.llm_server import Reply

pytestmark = pytest.mark.browser

GO = "<button onclick=\"document.title='touched'\">Go</button><input aria-label=Name>"


@pytest.fixture
def page(tmp_path):
    page_file(tmp_path, "<h1>Thanks</h1><button>Again</button>", "thanks.html")
    body = '<label>Name <input></label> <a href="thanks.html">Send</a>'
    return page_file(tmp_path, body, "start.html")


@pytest.fixture
def handed(live, server, page):
    live.session.agent.set_preset("step")
    live.open("web/open", url=page, instruction="Send your name.")
    live.session.live_page.set_handover(True)
    live.wait(lambda: live.view.handed_over)
    return live


def person_does(live, *actions):
    """Act with real mouse and keys, past the agent; elements by role and name, as in ``link "Send"``."""

    done = threading.Event()

    async def work():
        services = live.session.services()
        world = live.session.agent_run.world
        for text in actions:
            before = services.tabs.mark()
            await world.actor.act(parse_action(text))
            await services.tabs.settle(before)
        done.set()

    live.session.queue(work())
    assert done.wait(30)


def take_back(live):
    live.session.live_page.set_handover(False)
    live.wait(
        lambda: (live.view.handed_over, live.view.phase, live.view.mode) == (False, "decide", "waiting")
    )
    live.settle()


def own_steps(live):
    store = live.store()
    try:
        return [
            (one.number, one.origin, one.action.split(" ")[0], one.target, one.sealed)
            for one in store.own_steps(live.view.run)
        ]
    finally:
        store.close()


DONE = [(1, "person", "type", 'textbox "Name"', True), (2, "person", "click", 'link "Send"', True)]


def test_what_the_person_does_is_recorded_as_steps_of_theirs_which_are_gone_back_to(handed, server):
    live = handed
    person_does(live, 'type [textbox "Name"] [Ada]', 'click [link "Send"]')
    live.wait(lambda: live.view.step == 3)
    take_back(live)
    assert own_steps(live)[:2] == DONE
    assert (live.view.step, live.view.phase, live.page.url.rsplit("/", 1)[1]) == (3, "decide", "thanks.html")
    server.script(Reply(text="REASON: It is sent.\nACTION: stop [sent]"))
    live.to_review()
    assert "Ada" in "\n".join(server.requests[-1].texts)  # The agent is told of it.
    run = live.view.run
    assert live.row(run).touched
    live.session.branches.go_back(run, 2)
    live.wait(lambda: live.view.run not in (None, run) and live.view.mode == "waiting")
    live.settle()
    assert "Back at step 2" in live.view.message
    assert live.page.url.endswith("start.html")
    assert 'value="Ada"' in live.step.observation.raw


def test_what_was_typed_and_not_left_is_recorded_as_the_page_is_given_back(handed):
    live = handed
    person_does(live, 'type [textbox "Name"] [Ada]')
    take_back(live)
    assert own_steps(live)[:1] == DONE[:1]


def kept(live):
    """Return all that the database holds of text, blobs unpacked."""
    store = live.store()
    try:
        path = store.path
        hashes = [name for (name,) in sqlite3.connect(path).execute("SELECT hash FROM blobs")]
        texts = [store.blob(name) for name in hashes]
    finally:
        store.close()
    log = path.with_name(f"{path.name}-wal")
    return b"\n".join([path.read_bytes(), log.read_bytes() if log.exists() else b"", *texts])


def test_a_password_that_a_person_types_is_told_nowhere_and_typed_again_on_going_back(live, server, tmp_path):
    body = (
        "<script>const mirror = el => el.setAttribute('value', el.value);</script>"
        "<label>Password <input type=password oninput=mirror(this)></label>"
        "<button onclick=\"this.textContent = 'in'\">Sign in</button>"
    )
    live.session.agent.set_preset("step")
    live.open("web/open", url=page_file(tmp_path, body), instruction="Sign in.")
    live.session.live_page.set_handover(True)
    live.wait(lambda: live.view.handed_over)
    person_does(live, 'type [textbox "Password"] [hunter2]', "press [Tab]")
    live.wait(lambda: live.view.step == 2)
    person_does(live, 'click [button "Sign in"]')
    live.wait(lambda: live.view.step == 3)
    take_back(live)
    server.script(Reply(text="REASON: Done.\nACTION: stop"))
    live.to_review()
    assert "[<secret:password>]" in "\n".join(server.requests[-1].texts)
    run = live.view.run
    live.session.branches.go_back(run, 2)
    live.wait(lambda: live.view.run not in (None, run) and live.view.mode == "waiting")
    live.settle()
    assert "Back at step 2" in live.view.message
    assert change_page(live, "document.querySelector('input').value") == "hunter2"
    assert all("hunter2" not in "\n".join(one.texts) for one in server.requests)
    assert b"hunter2" not in kept(live)


def test_a_question_that_this_browser_answers_by_rule_is_recorded_and_told(live, server, tmp_path):
    body = "<button onclick=\"this.textContent = confirm('Sure?')\">Go</button>"
    live.open("web/open", url=page_file(tmp_path, body), instruction="Go.")
    live.session.live_page.set_handover(True)
    live.wait(lambda: live.view.handed_over)
    person_does(live, 'click [button "Go"]')
    live.wait(lambda: live.view.step == 3)
    assert live.told == (
        "You were not asked, for this browser answers by the settings (dialogs). "
        'The page asked (confirm): "Sure?"; it was accepted.'
    )
    take_back(live)
    actions = [step.action for step in live.steps(live.view.run)][:2]
    assert [one.split(" [")[0] for one in actions] == ["answer_dialog", "click"]
    assert actions[0] == "answer_dialog [accept]"


def change_page(live, script):
    page = live.session.services().tabs.current
    return asyncio.run_coroutine_threadsafe(
        page.evaluate(script, main_world=True), live.session._worker.loop
    ).result(20)


def test_a_page_given_back_is_read_anew(live, server, tmp_path):
    server.script(on('button "Go"'))
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Go.")
    live.to_review()
    live.session.live_page.set_handover(True)
    live.wait(lambda: live.view.handed_over)
    live.session.run_commands.step()
    live.wait(lambda: "You have the page" in live.view.message)
    live.session.corrections.skip()
    live.settle()
    change_page(live, "document.querySelector('button').textContent = 'Gone'")
    live.session.live_page.set_handover(False)
    live.wait(lambda: not live.view.handed_over and live.view.phase == "decide")
    live.wait_mode("waiting")
    assert 'button "Gone"' in live.step.observation.raw
    assert [kind for kind, *_ in live.interventions(live.view.run)] == ["handover", "handover"]
    assert len(server.requests) == 1


def test_an_episode_that_the_person_ended_in_the_page_ends_the_run(live, server):
    live.open()
    live.session.live_page.set_handover(True)
    live.wait(lambda: live.view.handed_over)
    change_page(live, "[...document.querySelectorAll('button')].find(b => b.textContent == 'ONE').click()")
    live.session.live_page.set_handover(False)
    view = live.wait_mode("ended")
    assert view.success is True
    assert server.requests == []


def test_a_page_that_the_person_used_after_the_run_had_ended_is_not_called_untouched(live, server, tmp_path):
    server.script(Reply(text="REASON: Done.\nACTION: stop []"))
    live.session.agent.set_preset("step")
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Look.")
    live.session.run_commands.run()
    live.wait_mode("ended")
    run = live.view.run
    for given in (True, False):
        live.session.live_page.set_handover(given)
        live.wait(lambda given=given: live.view.handed_over is given)
    live.session.branches.go_back(run, 1)
    live.wait(lambda: live.view.run not in (None, run) and live.view.mode == "waiting", "a branch")
    assert "by comparing only: equivalent" in live.view.message


def test_what_is_done_at_once_in_a_tab_that_opens_is_recorded(live, server, tmp_path):
    page_file(tmp_path, "<label>Name <input></label> <button>Send</button>", "form.html")
    live.session.agent.set_preset("step")
    opens = page_file(tmp_path, "<a target=_blank href='form.html'>Open</a>", "start.html")
    live.open("web/open", url=opens, instruction="Send your name.")
    live.session.live_page.set_handover(True)
    live.wait(lambda: live.view.handed_over)
    person_does(live, 'click [link "Open"]', 'type [textbox "Name"] [Ada]', 'click [button "Send"]')
    take_back(live)
    assert [(kind, target) for _, _, kind, target, sealed in own_steps(live) if sealed] == [
        ("click", 'link "Open"'),
        ("type", 'textbox "Name"'),
        ("click", 'button "Send"'),
    ]


def test_a_page_that_is_recorded_while_devtools_are_open_is_not_called_untouched(live, server, tmp_path):
    server.script(Reply(text="REASON: Done.\nACTION: stop []"))
    live.session.agent.set_preset("step")
    url = page_file(tmp_path, GO)
    live.open("web/open", url=url, instruction="Look.")
    live.session.live_page.inspected(True)
    live.open("web/open", url=url, instruction="Look again.")
    live.session.run_commands.run()
    live.wait_mode("ended")
    run = live.view.run
    live.session.branches.go_back(run, 1)
    live.wait(lambda: live.view.run not in (None, run) and live.view.mode == "waiting", "a branch")
    live.session.live_page.inspected(False)
    assert "by comparing only: equivalent" in live.view.message
