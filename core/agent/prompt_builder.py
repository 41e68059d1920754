"""Makes requests from the state of a run: the values for templates, and the content of messages."""

import io
import itertools
import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeVar

from core.agent.fitting import leave_out, show_less
from core.agent.llm_calls import Asker
from core.agent.policies.prompt import FramePrompt, frame_prompt, with_enter_said
from core.agent.resources import AgentResources
from core.agent.spaces.choice import CHOOSE
from core.agent.spaces.reading import unseen
from core.agent.state import RunState
from core.llm.repair import ReplyFormat
from core.llm.replies import as_json
from core.schema.action import ACTIONS, Action
from core.schema.action_text import parse_action, written_name
from core.schema.errors import ActionSyntaxError, PromptTooLong
from core.schema.exemplar import Draft, Exemplar
from core.schema.messages import (
    Image,
    LLMReply,
    LLMRequest,
    Message,
    Mistake,
    PromptPart,
    PromptView,
    Purpose,
    Sampling,
    Tool,
    Turn,
)
from core.schema.observation import CleanObservation, Observation, fenced, one_line, picture_type
from core.schema.progress import CandidateDetail, FailedTrial
from core.schema.secrets import named

Item = TypeVar("Item")

EXEMPLARS = "exemplars.j2"
"""Trajectories as one text, for replies by tool calls: these cannot be shown without their results."""

_WENT_BACK = re.compile(r"backtrack \[(\d+)\]")
_CONVERSATIONS = ("decide", "rationale", "function")
"""Purposes whose messages are made by `Prompter.conversation`."""


class Prompter:
    """Builds requests for all purposes and sends them to the LLM."""

    def __init__(self, resources: AgentResources, asker: Asker) -> None:
        self.resources = resources
        self.asker = asker

    async def ask(self, state: RunState, request: LLMRequest) -> tuple[LLMReply, int]:
        """Return the reply and the number of its call; raises LLMError."""
        return await self.asker.ask(state, request)

    async def ask_shortened(
        self, state: RunState, make: Callable[[], LLMRequest], *, exemplars: bool = True, spare: int = 0
    ) -> tuple[LLMRequest, LLMReply, int]:
        """Ask what `make` gives, made anew with more left out while it is longer than the LLM takes.

        `exemplars` is whether the request shows any, `spare` how many calls have to be left for what follows.
        Returns the request that was answered, the reply and the number of its call; raises LLMError.
        """
        while True:
            before = state.shortened
            request = make()
            try:
                return request, *await self.ask(state, request)
            except PromptTooLong:
                if state.calls_left <= spare:
                    raise
                if state.shortened != before or show_less(state):
                    continue  # Another question of the same step has found it too long as well.
                told = self.own_trail(state) if state.preset.trajectory else self.history(state)
                if not leave_out(
                    state,
                    exemplars=len(self.exemplars(state)) if exemplars else 0,
                    steps=min(len(told), _shown_steps(state)),
                    elements=len(state.clean.elements) if state.clean is not None else 0,
                ):
                    raise
                show_less(state)

    @staticmethod
    def out_of_calls(state: RunState, wanted: int = 1) -> str:
        """Return why so many calls cannot be made, or nothing."""
        if state.calls_left >= wanted:
            return ""
        return (
            f"This trial has used its {state.budget.llm_calls} LLM calls; raise max_llm_calls to allow more."
        )

    # Texts

    def render(self, state: RunState, template: str, **more: Any) -> str:
        """Return a template's text, nothing where there is no template; raises DataError."""
        if not template:
            return ""
        recognised = state.recognised
        here = state.space_state[1] if state.space_state is not None else None
        remembered = state.memory.remembered
        frame = self._frame(state)
        values: dict[str, Any] = {
            "task": state.episode.instruction,
            "secrets": tuple(map(named, state.episode.task.secrets)),
            "objective": self.objective(state),
            "assignment": self.objective(state) if frame is not None and frame.called else "",
            "page": state.clean,
            "tabs": _observed(state).tabs,
            "history": self.history(state),
            "notes": frame.notes if frame is not None else tuple(map(one_line, state.notes)),
            "permissible": state.permissible,
            "left_out": state.permissible.left_out,
            "reply_format": state.preset.reply_format,
            "several": state.preset.several_actions,
            "space": recognised.space if recognised else "",
            "state": recognised.state if recognised else "",
            "budget_note": recognised.budget_note if recognised else "",
            "instruction": here.instruction.strip() if here is not None else "",
            "layout": here.layout.strip() if here is not None else "",
            "at_budget": state.choice_is_due,
            "read": self.read(state),
            "shown": {name: one_line(remembered[name]) for name in here.shows if name in remembered}
            if here
            else {},
            "plan": self.plan(state),
            "experience": self.experience(state),
            "failed": self._failed(state),
            "exemplars": self.exemplars(state),
            **({"frame": frame} if frame is not None else {}),
        }
        given = {name: _as_data(name, value) for name, value in (values | more).items()}
        return self.resources.prompts.render(template, **given)

    def objective(self, state: RunState) -> str:
        frame = self._frame(state)
        return frame.objective if frame is not None else state.episode.instruction

    def history(self, state: RunState) -> tuple[Turn, ...]:
        """Return the steps that the prompt tells: those of the policy at work, or the trial's last ones."""
        frame = self._frame(state)
        if frame is not None:
            return frame.history
        if not (steps := _shown_steps(state)):
            return self.unusable(state)
        return _before_judgement(state, state.history[-steps:])

    @staticmethod
    def unusable(state: RunState) -> tuple[Turn, ...]:
        """Return the last steps whose replies could not be used: every prompt tells them, or it would be the same."""
        top = state.stack.top if state.is_on("policies") else None
        turns = reversed(top.history if top is not None else state.history)
        return tuple(map(_told, itertools.takewhile(lambda turn: not turn.action, turns)))[::-1]

    @staticmethod
    def read(state: RunState) -> tuple[CandidateDetail, ...]:
        """Return what is kept of the candidate in view and not shown by its page; a choice tells all of each."""
        if state.space_state is None or state.permissible.action(CHOOSE) is not None:
            return ()
        return unseen(state.memory, state.space_state[1], state.clean.text if state.clean is not None else "")

    @staticmethod
    def plan(state: RunState) -> Any:
        """Return the plan for templates, or None if there is none or it is switched off."""
        return state.reflection.plan if state.is_on("plan") else None

    def subtask(self, state: RunState) -> str:
        """Return the subtask that is worked on, or nothing if there is none."""
        plan = self.plan(state)
        return plan.current.text if plan is not None and plan.current is not None else ""

    @staticmethod
    def whole_task(state: RunState) -> dict[str, Any]:
        """Return what a question about the whole task shows in place of what the policy at work knows."""
        return {
            "objective": state.episode.instruction,
            "history": tuple(map(_told, _last(state.history, state.shortened.steps))),
            "notes": tuple(map(one_line, state.notes)),
        }

    @staticmethod
    def _failed(state: RunState) -> FailedTrial | None:
        """Return the last trial that failed, for the next plan."""
        failed = state.reflection.failed if state.is_on("plan") else None
        if failed is None:
            return None
        return failed.replace(history=tuple(map(_told, _last(failed.history, state.shortened.steps))))

    @staticmethod
    def experience(state: RunState) -> tuple[str, ...]:
        return tuple(state.reflection.experience) if state.is_on("plan") else ()

    def _frame(self, state: RunState) -> FramePrompt | None:
        """Return what the policy at work is asked, or None if none is."""
        if state.stack.top is None or not state.is_on("policies"):
            return None
        policies = self.resources.policies
        policy = policies.get(state.stack.top.policy)
        callables = policies.callable_from(policy, state.episode.task.environment, _observed(state).url)
        frame = frame_prompt(
            state.stack,
            policy,
            callables,
            state.permissible,
            reply_format=state.preset.reply_format,
            history=_shown_steps(state),
            limited=state.space_state is not None and not state.space_state[1].page_actions,
        )
        return frame.replace(
            history=_before_judgement(state, frame.history) if _shown_steps(state) else self.unusable(state),
            notes=tuple(map(one_line, frame.notes)),
            returned=tuple(
                one.replace(call=one_line(one.call), outcome=one_line(one.outcome)) for one in frame.returned
            ),
        )

    # Messages

    def conversation(self, state: RunState, system: str, user: str, purpose: Purpose) -> tuple[Message, ...]:
        """Return system if it says anything, exemplars, the run's own trajectory where the preset tells it so, and
        `user` last."""
        exemplars = self.exemplars(state)
        context: tuple[Message, ...] = ()
        if exemplars and state.preset.reply_format == "tools":
            system = f"{system}\n\n{self.render(state, EXEMPLARS, exemplars=exemplars)}"
        else:
            context = tuple(one for exemplar in exemplars for one in self._exemplar(state, exemplar))
        if state.preset.trajectory:
            context += self._trail(state)
        return (
            *((Message(role="system", text=system),) if system else ()),
            *context,
            Message(role="user", text=user, images=self._images(state, purpose)),
        )

    @staticmethod
    def exemplars(state: RunState) -> tuple[Exemplar, ...]:
        """Return the exemplars that the prompt begins with.

        Those that show an action which no page of the site and no state of it has, and no policy that can be called,
        are left out.
        """
        recalled = state.recalled
        if recalled is None or recalled.recall is None or not state.is_on("memory"):
            return ()
        states = state.space_state[0].state if state.space_state is not None else ()
        allowed = {action.name for action in state.permissible.actions}
        allowed |= {action.name for one in states for action in one.action}
        if not states or any(one.page_actions for one in states):
            allowed |= set(state.preset.actions or ACTIONS)
        found = tuple(one for one in recalled.recall.used if _named_in(one, allowed) <= allowed)
        return tuple(_last(found, state.shortened.exemplars))  # The last is the nearest.

    def _mistakes(self, state: RunState) -> tuple[Mistake, ...]:
        """Return what the exemplars in the prompt tell to have been wrong."""
        return tuple(
            Mistake(task=exemplar.task, page=contrast.observation, tried=contrast.tried, right=contrast.right)
            for exemplar in self.exemplars(state)
            for number in range(len(exemplar.steps))
            for contrast in exemplar.mistakes(number)
        )

    def _exemplar(self, state: RunState, exemplar: Exemplar) -> Iterable[Message]:
        return exemplar_messages(
            exemplar,
            state.preset.reply_format,
            lambda **more: self.render(state, state.preset.prompts.turn, **more),
        )

    def _trail(self, state: RunState) -> tuple[Message, ...]:
        found: list[Message] = []
        results: list[str] = []
        frame = self._frame(state)
        spelled = with_enter_said if frame is not None and frame.enter else str
        for number, step in enumerate(self.own_trail(state)):
            text = self.render(
                state,
                state.preset.prompts.turn,
                first=number == 0,
                page=CleanObservation(url=step.url, title=step.title, text=step.observation),
                results=tuple(results),
            )
            found.append(Message(role="user", text=text))
            texts = [spelled(str(action)) for action in step.actions]
            found.append(
                Message(role="assistant", text=written_reply(step.thought, texts, state.preset.reply_format))
            )
            results = step.results
        return tuple(found)

    @staticmethod
    def own_trail(state: RunState) -> list[Any]:
        """Return the looks of the frame at work that are shown, the oldest first."""
        own = [step for step in state.trail if step.frame == state.frame]
        return own[-steps:] if (steps := _shown_steps(state)) else []

    def shows_pictures(self, state: RunState, purpose: Purpose = "decide") -> bool:
        """Return whether prompts for this purpose hold a picture of the page."""
        return state.preset.pictures != "none" and self.asker.takes_images(purpose)

    def _images(self, state: RunState, purpose: Purpose) -> tuple[Image, ...]:
        capture = state.capture
        if capture is None or not capture.screenshot or not self.shows_pictures(state, purpose):
            return ()
        if state.preset.pictures == "plain":
            return (Image(data=capture.screenshot, mime=picture_type(capture.screenshot)),)
        picture = outlined(capture.screenshot, state.observation, targets(state))
        return (Image(data=picture, mime="image/png"),)

    # Requests

    def request(
        self, state: RunState, purpose: Purpose, messages: tuple[Message, ...], **view: Any
    ) -> LLMRequest:
        """Return the request; `view` is what its messages say besides what every prompt does."""
        frame = self._frame(state)
        plan = self.plan(state)
        now = _observed(state)
        seen = state.clean or CleanObservation(url=now.url, title=now.title)
        values: dict[str, Any] = {
            "objective": self.objective(state),
            "observation": seen,
            "history": self.history(state),
            "notes": frame.notes if frame is not None else tuple(map(one_line, state.notes)),
            "plan": tuple(subtask.text for subtask in plan.subtasks) if plan is not None else (),
            "subtask": self.subtask(state),
            "experience": self.experience(state),
            "mistakes": self._mistakes(state) if purpose in _CONVERSATIONS else (),
            "policy": frame.policy if frame is not None else "",
            "called": frame is not None and frame.called,
        }
        return LLMRequest(
            purpose=purpose,
            messages=messages,
            view=PromptView(**(values | view)),
            parts=self._parts(state, messages, frame) if purpose in _CONVERSATIONS else (),
            sampling=state.preset.sampling.get(purpose, Sampling()),
        )

    def _parts(
        self, state: RunState, messages: tuple[Message, ...], frame: FramePrompt | None
    ) -> tuple[PromptPart, ...]:
        """Return where in a conversation its exemplars and the words of its policy are."""
        exemplars = self.exemplars(state)
        found: list[PromptPart] = []
        if exemplars and state.preset.reply_format == "tools":
            texts = [
                self.render(state, EXEMPLARS, exemplars=exemplars[:some])
                for some in range(len(exemplars) + 1)
            ]
            found += exemplar_parts(messages[0].text, texts, exemplars)
        else:
            at = 1 if messages[0].role == "system" else 0
            for exemplar in exemplars:
                length = 2 * len(exemplar.steps)
                part = PromptPart(
                    kind="exemplar",
                    id=exemplar.id,
                    title=exemplar.task,
                    family=exemplar.family,
                    message=at,
                    messages=length,
                )
                found.append(part)
                at += length
        if frame is not None and state.stack.top is not None and frame.instruction:
            text = messages[0].text
            if text.count(frame.instruction) == 1:
                start = text.index(frame.instruction)
                found.append(
                    PromptPart(
                        kind="policy",
                        id=state.stack.top.policy,
                        title=frame.policy,
                        message=0,
                        start=start,
                        end=start + len(frame.instruction),
                    )
                )
        return tuple(found)

    def with_actions(self, state: RunState, request: LLMRequest) -> LLMRequest:
        """Return the request for an action: with what is permissible, as tools or as a schema of the reply."""
        request = request.replace(permissible=state.permissible)
        # After a rationale there is no thought to give. As an argument, since servers leave the text of a call empty.
        thinks = request.purpose != "function"
        if state.preset.reply_format == "json" and state.permissible.actions:
            several = state.preset.several_actions or request.purpose == "remedies"
            schema = state.permissible.reply_schema(None if several else 1, thinks=thinks)
            return request.replace(reply_schema=schema)
        if state.preset.reply_format != "tools":
            return request
        tools = tuple(
            Tool(
                name=action.name, description=action.description, parameters=action.json_schema(thinks=thinks)
            )
            for action in state.permissible.as_tools()
        )
        return request.replace(tools=tools, tool_choice="required")


def _last(items: Sequence[Item], most: int | None) -> Sequence[Item]:
    """Return so many of the last items at most; all for None."""
    return items if most is None else items[max(len(items) - most, 0) :]


def _shown_steps(state: RunState) -> int:
    """Return how many earlier steps a prompt tells at most."""
    most = state.shortened.steps
    return state.preset.history if most is None else min(most, state.preset.history)


def _named_in(exemplar: Exemplar, names: Collection[str]) -> set[str]:
    """Return the actions that an exemplar shows, right and wrong ones; `names` are known beside those of any page."""
    texts = [text for step in exemplar.steps for text in step.actions]
    for number in range(len(exemplar.steps)):
        texts += [text for contrast in exemplar.mistakes(number) for text in (contrast.tried, contrast.right)]
    return {written_name(text, names) for text in texts if text}


def _as_data(name: str, value: Any) -> Any:
    """Return a value of a template so that words of a page in it cannot pass for a part of the prompt."""
    match value:
        case CleanObservation():
            return value.replace(
                text=fenced(value.text), title=one_line(value.title), url=one_line(value.url)
            )
        case str() if name == "raw":
            return fenced(value)
        case str() if name in ("target", "result", "wanted"):
            return one_line(value)
    match name:
        case "tabs":
            return tuple(one.replace(title=one_line(one.title), url=one_line(one.url)) for one in value)
        case "exemplars":
            return tuple(
                one.replace(
                    steps=tuple(step.replace(observation=fenced(step.observation)) for step in one.steps)
                )
                for one in value
            )
    return value


def _told(turn: Turn) -> Turn:
    """Return a step in the agent's words, each part in one line: what a page said cannot pass for further steps."""
    action = turn.action
    if back := _WENT_BACK.fullmatch(action):
        action = f"went back to step {back[1]}"
    elif action == "new_trial":
        action = "began the task anew"
    return turn.replace(
        action=one_line(action),
        target=one_line(turn.target),
        result=one_line(turn.result),
        unjudged=one_line(turn.unjudged),
        thought=" ".join(turn.thought.split()),
    )


def _before_judgement(state: RunState, history: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return the steps as a prompt tells them; the last without its judgement if that was not waited for."""
    turns = tuple(_told(turn) for turn in history)
    if not state.asked_ahead or not turns or not turns[-1].unjudged:
        return turns
    return (*turns[:-1], turns[-1].replace(result=turns[-1].unjudged, unjudged=""))


def exemplar_messages(
    exemplar: Draft, reply_format: ReplyFormat, render: Callable[..., str]
) -> tuple[Message, ...]:
    """Return a trajectory as observations and replies in turn; `render` gives the text of one observation."""
    found: list[Message] = []
    for number, step in enumerate(exemplar.steps):
        page = CleanObservation(url="", text=step.observation)
        text = render(
            objective=exemplar.task, first=number == 0, page=page, mistakes=exemplar.mistakes(number)
        )
        found.append(Message(role="user", text=text))
        reply = written_reply(step.thought, step.actions, reply_format)
        found.append(Message(role="assistant", text=reply))
    return tuple(found)


def exemplar_parts(
    system: str, texts: Sequence[str], exemplars: Sequence[Exemplar]
) -> tuple[PromptPart, ...]:
    """Return where each exemplar stands in a system message that ends with all of them as one text.

    `texts` are that text for none of them, the first, the first two and so on;
    nothing is returned if it does not grow by one exemplar after the other.
    """
    whole = texts[-1]
    if not system.endswith(whole):
        return ()
    tail = len(texts[0])
    for text in texts:
        while not text.endswith(texts[0][len(texts[0]) - tail :]):
            tail -= 1
    ends = [len(text) - tail for text in texts]
    for text, end in zip(texts, ends, strict=True):
        if end < 0 or whole[:end] != text[:end]:
            return ()
    base = len(system) - len(whole)
    around = PromptPart(kind="exemplars", message=0, start=len(system[:base].rstrip()), end=len(system))
    return (
        around,
        *(
            PromptPart(
                kind="exemplar",
                id=one.id,
                title=one.task,
                family=one.family,
                message=0,
                start=base + start,
                end=base + end,
            )
            for one, start, end in zip(exemplars, ends, ends[1:], strict=False)
        ),
    )


def written_reply(thought: str, actions: Iterable[str], reply_format: ReplyFormat) -> str:
    """Return a reply as the LLM is asked to write it; `actions` are in their text form."""
    actions = tuple(actions)
    if reply_format == "json":
        read: list[Action] = []
        for text in actions:
            try:
                read.append(parse_action(text))
            except ActionSyntaxError:
                return json.dumps({"thought": thought, "actions": list(actions)}, ensure_ascii=False)
        return as_json(thought, read)
    return "\n".join([f"REASON: {thought or 'This is next.'}", *(f"ACTION: {text}" for text in actions)])


def _observed(state: RunState) -> Observation:
    """Return the page in view; an empty one where a branch is being begun, and none was read yet."""
    return state.capture.observation if state.capture is not None else Observation(url="")


def targets(state: RunState) -> Iterable[int]:
    """Return the refs that permissible actions name, each once, in page order."""
    seen: dict[int, None] = {}
    for action in state.permissible.actions:
        parameter = action.parameter("target")
        if action.name not in ("click", "type", "select", "check", "upload", "drag"):
            continue
        for choice in (parameter.choices or ()) if parameter else ():
            seen.setdefault(int(choice.value))
    return seen


_COLOUR = (31, 111, 235)


def outlined(picture: bytes, observation: Observation, refs: Iterable[int]) -> bytes:
    """Return the picture as PNG with an outline and its number round each element in view."""
    from PIL import Image as Picture  # Most prompts have no picture.
    from PIL import ImageDraw, ImageFont

    image = Picture.open(io.BytesIO(picture)).convert("RGB")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=11)
    wanted = set(refs)
    for element in observation.elements:
        if element.ref not in wanted or not element.in_viewport:
            continue
        box = element.box
        left, top = max(box.x, 0), max(box.y, 0)
        right, bottom = min(box.x + box.width, image.width - 1), min(box.y + box.height, image.height - 1)
        if right <= left or bottom <= top:
            continue
        draw.rectangle((left, top, right, bottom), outline=_COLOUR, width=2)
        label = str(element.ref)
        width = draw.textlength(label, font=font) + 4
        up = top - 12 if top >= 12 else top
        draw.rectangle((left, up, left + width, up + 12), fill=_COLOUR)
        draw.text((left + 2, up), label, fill=(255, 255, 255), font=font)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
