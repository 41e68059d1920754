"""The grammar of the agents is closed: each action text that a prompt shows is one that a reply may have."""

import asyncio
import re

import pytest

from core.agent.policies.stack import place_of_page
from core.agent.presets import Presets
from core.agent.resources import agent_resources_of
from core.agent.state import Budget, RunState
from core.debugger.headless import run_headless
from core.llm.repair import read_reply
from core.llm.replies import as_json, as_lines
from core.schema.action_text import parse_action
from core.schema.messages import LLMReply
from core.schema.observation import Capture
from core.schema.step import Observed, Recognised, record_of
from core.schema.task import Episode
from tests.core.agent.grammar import asked_at, not_taken
from tests.core.exemplars.exchange.files import demo, example, read, saved
from tests.core.stage import llms_for

pytestmark = pytest.mark.browser

TASKS = {"miniwob/enter-text": "plain", "shop/goal-003": "laser", "airline/book-flight": "laser"}
PRESETS = Presets().names()


@pytest.fixture(scope="module")
def looks(whole_stage):
    """Return each site's pages, one for each state: the task, where it began, and the page."""
    stage = whole_stage
    llms = llms_for(stage.settings)
    found = []
    for name, preset in TASKS.items():
        task = stage.services.environments.find(name)
        report = stage.thread.run(
            run_headless(
                stage.services,
                task,
                1,
                preset=preset,
                llm=llms.routed("rules"),
                budget=Budget(),
                on_gate="allow",
            )
        )
        store, states = stage.services.store, set()
        for row in store.steps(report.run):
            records = store.step(report.run, row.number).records
            observed, recognised = record_of(Observed, records), record_of(Recognised, records)
            if recognised.state not in states:
                html = store.blob(observed.html).decode() if observed.html else ""
                found.append((task, Capture(observation=observed.observation, html=html)))
                states.add(recognised.state)
    stage.thread.run(llms.close())
    assert len(found) >= 8
    return found


def state_on(task, capture, preset, policy=None):
    url = capture.observation.url
    episode = Episode(task=task, seed=1, instruction="Do it.", start_url=url)
    state = RunState(run=1, episode=episode, preset=preset, llm="test", budget=Budget())
    state.capture = state.before = capture
    if policy is not None:
        page = place_of_page(capture.observation)
        arguments = tuple("x" for _ in policy.parameters)
        state.stack = state.stack.begin(policy.id, policy.name, arguments, step=1, page=page)
    return state


def states_on(task, capture, preset, resources, *, every=False):
    """Yield the run at a page, where the preset has policies with one of the site at work, or with every one."""
    policies = resources.policies.applying(task.environment, capture.observation.url)
    for policy in (policies if every else policies[:1]) if preset.has("policies") else [None]:
        yield state_on(task, capture, preset, policy)


def forms_of(name):
    return ("lines", "json", "tools") if Presets().get(name).open_format else ("lines", "json")


@pytest.fixture(
    scope="module", params=[(name, form) for name in PRESETS for form in forms_of(name)], ids="-".join
)
def prompts(looks, request):
    """Return what a preset asks with a form of replies on each site's pages: task, state and request.

    What a form or another preset asks for does not depend on the policy: in one of each every policy is at work.
    """
    name, form = request.param
    every = (name, form) in (("step", "lines"), ("combined", "lines"))
    resources = agent_resources_of()
    preset = resources.presets.get(name).replace(reply_format=form)

    async def ask():
        return [
            (task, state, asked)
            for task, capture in looks
            for state in states_on(task, capture, preset, resources, every=every)
            for asked in await asked_at(state, resources)
        ]

    found = asyncio.run(ask())
    assert len(found) > len(looks)
    return found


def test_a_reply_in_the_words_of_a_prompt_is_taken(prompts):
    for task, state, request in prompts:
        assert not_taken(request, state) == [], (task.id, request.purpose)


CONTRADICTIONS = {
    "one action, and several": (r"\bone action\b", r"further ones|one or more tools|one ACTION line each"),
    "a choice, and no choice": (r"Only the listed actions can", r"Policies you may call"),
}
"""What no prompt may ask for at once: two patterns of its words."""
NEVER = (r"no harm", r'~"', r"\^[A-Z]", r"\[direction\]")
"""What no prompt may say: that nothing can go wrong, patterns of a state's file, a word in place of its few values."""


def test_no_prompt_asks_for_two_things_that_exclude_one_another(prompts):
    for _, state, request in prompts:
        if request.purpose == "remedies":
            continue  # It begins with the prompt for the action, and then asks for others.
        form, words = state.preset.reply_format, without_page(request)
        for what, (one, other) in CONTRADICTIONS.items():
            assert not (re.search(one, words) and re.search(other, words)), (what, words)
        assert [pattern for pattern in NEVER if re.search(pattern, words)] == []
        if request.purpose == "function":  # The rationale is its thought.
            assert not re.search(r"REASON:|Its thought says|\"thought\"", request.messages[-1].text)
        if form != "tools" and state.permissible.action("scroll") and request.purpose == "decide":
            assert re.search(r"scroll\W.*\b(up|down)\b|\"direction\": \"up\"", words)
        if state.permissible.action("stop") is None and request.purpose != "repair":
            assert not re.search(r"(?m)^- Stop |^- When the task is done", words), words


def without_page(request):
    page = set(request.view.observation.text.splitlines()) if request.view is not None else set()
    lines = [line for message in request.messages for line in message.text.splitlines()]
    return "\n".join(line for line in lines if line not in page)


@pytest.mark.parametrize("form", ["lines", "json"])
async def test_every_permissible_action_is_taken_as_a_list_of_actions_has_it(looks, form):
    resources = agent_resources_of()
    for task, capture in looks:
        preset = resources.presets.get("laser").replace(reply_format=form)
        state = state_on(task, capture, preset)
        request = (await asked_at(state, resources))[0].replace(permissible=state.permissible)
        for row in state.permissible.rows():
            if "[]" in row.text:
                continue
            action = parse_action(row.text, state.permissible.own_names)
            label = f"{row.text} ({row.label})" if row.ref is not None else row.text
            text = (
                as_lines("So.", (action,))
                if form == "lines"
                else as_json("So.", (action,), state.permissible)
            )
            assert read_reply(LLMReply(text=text), request, form)[0].action == action
            assert read_reply(LLMReply(text=f"ACTION: {label}."), request, "lines")[0].action == action


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """Return exemplars of other programs: with XPaths, the focus, and calls of policies."""
    folder = tmp_path_factory.mktemp("imported")
    acts = (
        "agent.click_xpath(\"//*[@id='tt']\")",
        "agent.type('ls')",
        "agent.press('enter')",
        "agent.click_xpath(\"//button[text()='Go']\")",
    )
    families = {"terminal": {"demo": [demo("Use the terminal.", act="\n".join(acts))]}}
    decisions = [
        example("Buy it.", "None", "click [7]"),
        example("Buy it.", "1. click [7]", "fill_text [Name] [Ada]"),
    ]
    policies = {
        "shop_for": {"instruction": "You buy. `fill_text [field] [text]`: Fills.", "examples": decisions}
    }
    files = (saved(folder, families, "synapse.json"), saved(folder, policies, "step.json"))
    exemplars = tuple(one.exemplar for path in files for one in read(path).candidates)
    shown = " ".join(text for one in exemplars for step in one.steps for text in step.actions)
    assert "focus" in shown
    assert "xpath=" in shown
    assert "fill_text" in shown
    return exemplars


@pytest.mark.parametrize("form", ["lines", "tools"])
@pytest.mark.parametrize("name", [name for name in PRESETS if Presets().get(name).has("memory")])
async def test_the_exemplars_of_other_programs_show_nothing_that_a_reply_may_not_have(
    looks, imported, name, form
):
    resources = agent_resources_of()
    preset = resources.presets.get(name).replace(reply_format=form)
    shown = set()
    for task, capture in looks:
        for state in states_on(task, capture, preset, resources):
            for request in await asked_at(state, resources, imported):
                assert not_taken(request, state, imported) == [], (task.id, request.purpose)
                shown |= {part.id for part in request.parts if part.kind == "exemplar"}
    assert shown, "no exemplar is in any prompt"
