"""What a person does, as steps: the page each was done in, though the page is already beyond it."""

import pytest

from core.agent.human_actions import HumanActions
from core.browser.demonstration import HumanAction
from core.schema.action_text import parse_action
from core.schema.errors import ActionError
from tests.core.agent.traced import records, steps
from tests.core.stage import page_file, ref_in
from tests.llm_server import Reply, call

pytestmark = pytest.mark.browser


@pytest.fixture
def run(stage, llm_server, tmp_path):
    page_file(tmp_path, "<h1>Thanks</h1>", "thanks.html")
    body = '<label>Name <input></label> <a href="thanks.html">Send</a>'
    return stage.open(llm_server, url=page_file(tmp_path, body, "start.html"), instruction="Send it.")


def ref(run, name):
    return next(one.ref for one in run.state.capture.observation.elements if one.name == name)


def does(stage, run, text):
    async def act():
        before = run.world.tabs.mark()
        await run.world.actor.act(parse_action(text))
        await run.world.tabs.settle(before)

    stage.thread.run(act())


def test_what_was_typed_is_in_the_page_of_the_next_human_action(stage, run):
    human_actions = HumanActions(run, print)
    stage.thread.run(human_actions.look())
    field, link = ref(run, "Name"), ref(run, "Send")
    does(stage, run, f"type [{field}] [Ada]")
    stage.thread.run(human_actions.take(HumanAction(kind="look", ref=field), more=False))
    does(stage, run, f"click [{link}]")  # Leaving the field, which tells the typing, and the page at once.
    stage.thread.run(human_actions.take(HumanAction(kind="type", ref=field, text="Ada"), more=True))
    stage.thread.run(human_actions.take(HumanAction(kind="click", ref=link), more=False))
    assert [(one.number, one.origin, one.sealed) for one in steps(run)] == [
        (1, "person", True),
        (2, "person", True),
    ]
    before, typed = (records(run, number)["observe"].observation for number in (1, 2))
    assert [page.element(field).value for page in (before, typed)] == ["", "Ada"]
    assert run.state.observation.url.endswith("thanks.html")


def test_what_was_typed_in_haste_is_in_the_page_of_the_next_human_action_too(stage, run):
    human_actions = HumanActions(run, print)
    stage.thread.run(human_actions.look())
    field, link = ref(run, "Name"), ref(run, "Send")
    does(stage, run, f"type [{field}] [Ada]")
    does(stage, run, f"click [{link}]")
    stage.thread.run(
        human_actions.take(HumanAction(kind="type", ref=field, text="Ada"), more=False, waiting=lambda: True)
    )
    stage.thread.run(human_actions.take(HumanAction(kind="click", ref=link), more=False))
    clicked = records(run, 2)
    assert clicked["observe"].observation.element(field).value == "Ada"
    assert f"[{link}] link" in clicked["abstract"].clean.text


def test_a_reading_that_an_action_has_overtaken_is_not_the_page_of_that_action(stage, run):
    human_actions = HumanActions(run, print)
    stage.thread.run(human_actions.look())
    field, link = ref(run, "Name"), ref(run, "Send")
    does(stage, run, f"type [{field}] [Ada]")
    does(stage, run, f"click [{link}]")  # While the page is read for the look below, which came before it.
    for typing in (True, False):
        look = HumanAction(kind="look", ref=field, typing=typing)
        assert stage.thread.run(human_actions.take(look, more=False, waiting=lambda: True)) == 0
    assert human_actions.looked is None
    stage.thread.run(human_actions.take(HumanAction(kind="type", ref=field, text="Ada"), more=True))
    stage.thread.run(human_actions.take(HumanAction(kind="click", ref=link), more=False))
    clicked = records(run, 2)
    assert clicked["observe"].observation.url.endswith("start.html")
    assert clicked["observe"].observation.element(field).value == "Ada"


def test_what_came_up_while_somebody_typed_is_in_the_page_of_the_click_on_it(stage, llm_server, tmp_path):
    more = "this.nextElementSibling.hidden = false"
    url = page_file(
        tmp_path, f'<input aria-label="City" oninput="{more}"><button hidden>Oslo</button>', "up.html"
    )
    run = stage.open(llm_server, url=url, instruction="Go to Oslo.")
    human_actions = HumanActions(run, print)
    stage.thread.run(human_actions.look())
    field = ref(run, "City")
    does(stage, run, f"type [{field}] [O]")
    look = HumanAction(kind="look", ref=field)  # The click was reported while the page was read.
    stage.thread.run(human_actions.take(look, more=False, waiting=lambda: True))
    stage.thread.run(human_actions.take(HumanAction(kind="type", ref=field, text="O"), more=True))
    city = ref(run, "Oslo")
    stage.thread.run(human_actions.take(HumanAction(kind="click", ref=city), more=False))
    assert f'[{city}] button "Oslo"' in records(run, 2)["abstract"].clean.text


def test_an_answer_to_the_page_is_a_step_before_the_action_that_made_it_ask(stage, llm_server, tmp_path):
    asks = "document.querySelector('p').textContent = confirm('Send it?') ? 'Sent' : 'Kept'"
    url = page_file(tmp_path, f'<button onclick="{asks}">Send</button><p></p>', "asks.html")
    run, problems = stage.open(llm_server, url=url, instruction="Send it."), []
    human_actions = HumanActions(run, problems.append)
    stage.thread.run(human_actions.look())
    send = ref(run, "Send")
    does(stage, run, f"click [{send}]")
    assert stage.thread.run(human_actions.take(HumanAction(kind="click", ref=send), more=False)) == 2
    decided = [str(records(run, number)["review"].action) for number in (1, 2)]
    assert decided == ["answer_dialog [accept]", f"click [{send}]"]
    assert len(problems) == 1
    assert problems[0].startswith("You were not asked, for this browser answers by the settings (dialogs).")
    assert "Sent" in str(run.state.observation.elements)


def test_a_step_of_the_persons_does_not_tell_what_became_of_an_earlier_reply(stage, llm_server, run):
    def two(request):
        field = ref_in(request, 'textbox "Name"')
        return Reply(calls=(call("click", target=field), call("click", target=field)))

    llm_server.script(two)
    stage.step(run)
    human_actions = HumanActions(run, print)
    stage.thread.run(human_actions.look())
    link = ref(run, "Send")
    does(stage, run, f"click [{link}]")
    stage.thread.run(human_actions.take(HumanAction(kind="click", ref=link), more=False))
    own, persons = (turn.result for turn in run.state.history)
    assert "the reply also asked for" in own
    assert persons == "done"


def test_what_the_ranking_would_leave_out_is_kept_where_it_was_used(stage, llm_server, tmp_path):
    many = "".join(f"<button>Order {number}</button>" for number in range(80))
    url = page_file(tmp_path, f"{many}<button>Else</button>", "many.html")
    run = stage.open(llm_server, url=url, instruction="Order 7.", preset="combined")
    human_actions = HumanActions(run, print)
    stage.thread.run(human_actions.look())
    used = ref(run, "Else")
    does(stage, run, f"click [{used}]")
    stage.thread.run(human_actions.take(HumanAction(kind="click", ref=used), more=False))
    abstracted = records(run, 1)["abstract"]
    assert "ranking" in abstracted.how
    assert f'[{used}] button "Else"' in abstracted.clean.text
    assert len(abstracted.clean.elements) < 81


def test_what_has_no_action_leaves_no_step_and_says_so(stage, run):
    human_actions = HumanActions(run, print)
    stage.thread.run(human_actions.look())
    for human_action, why in (
        (HumanAction(kind="click"), "no place in the page"),
        (HumanAction(kind="lost", text="Nothing does it."), "Nothing does it."),
    ):
        with pytest.raises(ActionError, match=why):
            stage.thread.run(human_actions.take(human_action, more=False))
    assert steps(run) == ()
