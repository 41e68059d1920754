"""Every action text that a prompt shows, and whether a reply in its words would be taken."""

import re
from collections.abc import Collection, Iterator

from core.agent.abstraction import clean_of
from core.agent.decision import Decider
from core.agent.phases.recognise import recognise_page
from core.agent.prompt_builder import Prompter
from core.agent.reflection.anticipation import Anticipator
from core.agent.resources import AgentResources
from core.agent.state import Pending, RunState, TrailStep
from core.schema.action import ACTIONS
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.exemplar import Exemplar, Recall
from core.schema.messages import LLMReply, LLMRequest, Turn
from core.schema.step import Recalled

WRITTEN = re.compile(
    r"(?<![\w\]\[\"'=/])([A-Za-z][A-Za-z_]*)((?:[ \t]+\[(?:\\.|[^\[\]\\\n]|\[[^\[\]\n]*\])*\])+)"
)
"""A name and what stands in brackets after it."""
_ANYWHERE = frozenset({"stop", "note"})
_SAMPLES = {
    "target": "1", "to": "2", "text": "abc", "keys": "Enter", "up|down|left|right": "down", "option": "abc",
    "path": "a.txt", "path…": "b.txt", "url": "http://127.0.0.1/", "index": "0", "seconds": "1",
    "x": "1", "y": "1", "n": "1",
    "id": "1", "element_id": "1", "tab_index": "0", "key": "Enter", "key_comb": "Enter", "up or down": "down",
}  # fmt: skip
"""What stands for a word that only says what an argument is."""
_OPTIONS = {"0|1": "1", "x,y": "0.5,0.5", "down|up": "down"}


class Asked:
    """In place of an LLM: keeps what it is asked, and says nothing that could be used."""

    def __init__(self, says: str = "I would rather not say.") -> None:
        self.requests: list[LLMRequest] = []
        self._says = says

    async def ask(self, state: RunState, request: LLMRequest) -> tuple[LLMReply, int]:
        self.requests.append(request)
        return LLMReply(text=self._says), len(self.requests)

    def sent(self, request: LLMRequest, number: int) -> LLMRequest:
        return request

    def takes_images(self, purpose: str) -> bool:
        return False

    def at_once(self, purpose: str) -> bool:
        return True


async def asked_at(
    state: RunState, resources: AgentResources, exemplars: tuple[Exemplar, ...] = ()
) -> list[LLMRequest]:
    """Return all that is asked for an action and its remedies at a page, repair turns among it."""
    recognise_page(state, resources, back=1, forward=1, pictures=False)
    state.clean = clean_of(state.observation)
    rows = [row for row in state.permissible.rows() if "[]" not in row.text]
    turns = [
        Turn(number=number, action=row.text, target=row.label, result="done")
        for number, row in enumerate([*rows[:6], *rows[-3:]], start=1)
    ]
    state.history = turns
    state.trail = [
        TrailStep(
            state.frame, "a page", "So.", [parse_action(row.text, state.permissible.own_names)], ["done"]
        )
        for row in rows[:6]
    ]
    if state.stack.top is not None:
        state.stack = state.stack.edited(state.stack.top.replace(history=tuple(turns)))
    if exemplars:
        state.recalled_by_frame[state.frame] = Recalled(recall=Recall(used=exemplars))
    asked = Asked()
    prompter = Prompter(resources, asked)  # type: ignore[arg-type]
    decider = Decider(prompter)
    await decider.decide(state)
    chosen = rows[0].text if rows else ""
    if chosen and state.is_on("remedies"):
        state.pending = Pending(action=parse_action(chosen, state.permissible.own_names), thought="So.")
        await Anticipator(prompter, decider).anticipate(state)
    return asked.requests


def not_taken(request: LLMRequest, state: RunState, exemplars: Collection[Exemplar] = ()) -> list[str]:
    """Return the action texts of a request that cannot be read, or are of no action that its site allows."""
    permissible = request.permissible
    assert permissible is not None
    allowed = {action.name for action in permissible.actions} | _ANYWHERE
    own = set(permissible.own_names)
    if state.space_state is not None:
        states = state.space_state[0].state
        own |= {action.name for one in states for action in one.action}
    if state.space_state is None or any(one.page_actions for one in state.space_state[0].state):
        allowed |= set(ACTIONS)
    allowed |= own
    faults = []
    for name, arguments in written_in(request, exemplars):
        text = name + filled(name, arguments)
        try:
            action = parse_action(text, own)
        except ActionSyntaxError as error:
            faults.append(f"{name}{arguments}: {error}")
            continue
        if action.name not in allowed:
            faults.append(f"{name}{arguments}: {action.name} is not permissible")
    return faults


def written_in(request: LLMRequest, exemplars: Collection[Exemplar]) -> Iterator[tuple[str, str]]:
    """Yield name and arguments of each action text in the messages, the pages in them left out."""
    pages = {
        line.strip() for one in exemplars for step in one.steps for line in step.observation.splitlines()
    }
    if request.view is not None:
        pages |= {line.strip() for line in request.view.observation.text.splitlines()}
    for message in request.messages:
        for line in message.text.splitlines():
            is_task = line.startswith(("Task: ", "--- Task: ", "Assignment: "))
            if line.strip() not in pages and not is_task and not re.match(r"\s*(> )?\[\d+\] ", line):
                for written in WRITTEN.finditer(line):
                    if written[2].strip() != "[ ]":
                        yield written[1], written[2]


def filled(name: str, arguments: str) -> str:
    """Return arguments with a value for each word that only says what it is."""

    def value(part: re.Match[str]) -> str:
        inner = part[1]
        mark = "optional: " if inner.startswith("optional: ") else ""
        word, sign, shown = inner.removeprefix(mark).partition("=")
        if sign and shown in _OPTIONS:
            return f"[{mark}{word}={_OPTIONS[shown]}]"
        return f"[{mark}{_SAMPLES.get(inner.removeprefix(mark), inner.removeprefix(mark))}]"

    return re.sub(r"\[((?:\\.|[^\[\]\\]|\[[^\[\]]*\])*)\]", value, arguments)
