"""The presets that follow the papers: what is asked, in which order, with which parts and sampling.

`paper_presets.json` has the structure of every request of one episode of each.
"""

import json
import re
from itertools import groupby
from pathlib import Path

import pytest

from core.environments.shop.catalogue import bundled_catalogue
from core.environments.shop.goals import bundled_goals
from tests.core.agent.traced import purposes, steps
from tests.core.stage import ref_in
from tests.llm_server import Reply, call

pytestmark = pytest.mark.browser

GOLDEN = json.loads((Path(__file__).parent / "paper_presets.json").read_text(encoding="utf-8"))
SHOP = "shop/goal-000"

_LABEL = re.compile(r"#*([A-Z][A-Za-z0-9 ,'-]{1,50})(?: \([^()]*\))?:(?=\s|$)")
"""What the name of a part looks like, at the beginning of a line."""


def parts_of(text):
    """Return the names of a message's parts in order; of several examples, only the first one's."""
    found = [match[1] for line in text.splitlines() if (match := _LABEL.match(line))]
    names = " / ".join(name for name, _ in groupby(found))
    return re.sub(r"(OBJECTIVE / OBSERVATION / PREVIOUS ACTIONS / REASON / ACTION / )\1+", r"\1… / ", names)


def roles_of(messages):
    """Return the roles; of several exemplars or turns, only the first one's."""
    roles = ", ".join(message["role"] for message in messages)
    return re.sub(r"(user, assistant)(, user, assistant)+", r"\1, …", roles)


def structure(run, server):
    """Return the structure of each request; of equal ones that follow one another, how many there are."""
    found = []
    for purpose, request in zip(purposes(run), server.requests, strict=True):
        body, texts = request.body, request.texts
        shown = {"purpose": purpose, "roles": roles_of(body["messages"]), "first message": parts_of(texts[0])}
        if len(texts) > 1:
            shown["last message"] = parts_of(texts[-1])
        for name in ("temperature", "top_p", "max_tokens", "tool_choice", "response_format"):
            if name in body:
                shown[name] = body[name]
        if request.tool_names:
            shown["tools"] = ", ".join(request.tool_names)
        found.append(shown)
    return [{"times": len(list(same)), **shown} for shown, same in groupby(found)]


def says(action):
    return Reply(text=f"REASON: So.\nACTION: {action}")


def on(name, words, more=""):
    """Answer with an action on the line that begins with `words`."""
    return lambda request: says(f"{name} [{ref_in(request, words)}]{more}")


def buy(request):
    (tool,) = (one for one in request.body["tools"] if one["function"]["name"] == "Buy_Now")
    given = tool["function"]["parameters"]["properties"]
    return Reply(calls=(call("Buy_Now", **{name: one["enum"][0] for name, one in given.items()}),))


def laser(stage, server):
    goal = next(one.goal for one in bundled_goals() if SHOP.endswith(one.name))
    title = bundled_catalogue().product(goal.product).title
    actions = (
        Reply(calls=(call("Search", keywords=title, max_price=goal.price_limit / 100),)),
        Reply(calls=(call("select_item", item_id=goal.product),)),
        Reply(calls=(call("Features"),)),
        buy,
    )
    for action in actions:
        server.script(Reply(text="It is next."), action)
    return stage.open(server, SHOP, preset="laser-paper")


def step(stage, server):
    replies = (
        says("search_shop [steel bottle]"),
        on("type", 'searchbox "Keywords"', " [steel bottle] [press_enter_after=1]"),
        says("stop [205 results]"),
        says("stop []"),
    )
    for reply in replies:
        server.script(*[reply] * 3)
    return stage.open(server, SHOP, preset="step-paper")


def reflect(stage, server):
    """One action is judged wrong, and its remedy right."""

    def orders(request):
        ref = ref_in(request, 'link "Your orders"')
        return Reply(text=f"click [{ref}]")

    server.script(
        Reply(text="1. Type the word\n2. Search"),
        Reply(text="note_down [The shop is empty]"),
        orders,
        lambda request: Reply(text=f"type [{ref_in(request, 'searchbox')}] [bottle]"),
        Reply(text="The action is to open the orders.\nNO"),
        Reply(text="The action is to type the word.\nYES"),
        Reply(text="YES"),
        Reply(text="YES"),
        Reply(text="###Answer: 42"),
    )
    return stage.open(server, SHOP, preset="reflect-paper")


def synapse(stage, server):
    def shortened(request):
        lines = request.texts[-1].splitlines()
        return Reply(text="\n".join(line for line in lines if re.search("text|button", line)))

    def both(request):
        field, button = ref_in(request, "textbox"), ref_in(request, "button")
        return Reply(text=f"REASON: So.\nACTION: type [{field}] [x]\nACTION: click [{button}]")

    server.script(shortened, both)
    return stage.open(server, "miniwob/enter-text", preset="synapse-paper")


@pytest.mark.parametrize("episode", [laser, step, reflect, synapse])
def test_every_request_has_the_structure_that_the_page_on_the_papers_tells(stage, llm_server, episode):
    run = episode(stage, llm_server)
    stage.to_the_end(run)
    assert structure(run, llm_server) == GOLDEN[episode.__name__]


def test_a_trial_that_failed_is_not_reviewed_and_the_next_plan_is_told_what_was_done(stage, llm_server):
    """No remedy is left after a no."""

    def orders(request):
        ref = ref_in(request, 'link "Your orders"')
        return Reply(text=f"click [{ref}]")

    llm_server.script(Reply(text="1. Look"), orders, orders, orders, Reply(text="It is about orders.\nNO"))
    llm_server.script(Reply(text="1. Search"))
    llm_server.otherwise = orders
    run = stage.open(llm_server, SHOP, preset="reflect-paper")
    while "plan" not in purposes(run)[1:]:
        stage.step(run)
    assert purposes(run)[:6] == ["plan", "decide", "remedies", "remedies", "aligned", "plan"]
    (text,) = llm_server.requests[5].texts
    assert "The plan of a trial that failed:\n1. Look\n" in text
    assert "What was done in that trial:\n1. click [" in text
    assert "earlier trials" not in llm_server.requests[6].texts[0]


def test_only_the_actions_that_a_preset_names_are_offered(stage, llm_server):
    llm_server.script(Reply(text="1. Look"), says("stop []"), says("hover [4]"))
    run = stage.open(llm_server, SHOP, preset="reflect-paper")
    stage.step(run)
    offered = {action.name for action in run.state.permissible.actions}
    assert offered <= set(run.state.preset.actions)
    assert {"stop", "hover"} <= set(run.state.offered)
    assert steps(run)[0].message.startswith('"hover" is not permissible here')


def test_the_flat_baseline_has_all_instructions_in_one_prompt_and_calls_nothing(stage, llm_server):
    llm_server.script(*[says("stop []")] * 3)
    run = stage.open(llm_server, "miniwob/enter-text", preset="step-paper-flat")
    stage.step(run)
    text = llm_server.requests[0].texts[0]
    assert "Boxes to tick:" in text
    assert "E-mails:" in text
    assert "Subroutine Actions" not in text
    assert not [action for action in run.state.permissible.actions if action.origin == "policy"]
