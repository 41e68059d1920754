"""What the kinds of causes read of a failed run, and of a successful run on the same task: each part once."""

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import TypeVar

from core.agent.presets import Preset
from core.agent.resources import OWN_FOLDERS, AgentResources
from core.agent.spaces.file import SpaceAction, SpaceState, StateSpace
from core.debugger.causes.records import Evidence
from core.debugger.compare.parting import Parting
from core.debugger.compare.views import comparable
from core.debugger.editing.files import AgentFiles
from core.debugger.evaluations.failures import deciding, own_successes, parting_of
from core.schema.action import Action
from core.schema.action_space import Parameter
from core.schema.errors import BackstepError
from core.schema.exemplar import Exemplar
from core.schema.messages import LLMReply, Purpose
from core.schema.observation import Observation
from core.schema.secrets import is_text_of
from core.schema.step import (
    Abstracted,
    Acted,
    CallRecord,
    FrameRecord,
    Observed,
    PhaseRecord,
    Recalled,
    Recognised,
    action_of,
    record_of,
)
from core.settings.toml_layout import Location, layout
from core.trace.calls import exemplars_sent, stored_prompt, stored_reply
from core.trace.records import RunRow, StepRow
from core.trace.store import TraceStore

BEFORE: tuple[Purpose, ...] = ("plan", "abstract", "parser", "decide", "rationale", "function", "repair")
"""Why the LLM is asked before there is an action."""
R = TypeVar("R", bound=PhaseRecord)


def read_of(page: Observation) -> list[tuple[object, ...]]:
    """Return what a page says, as it is in another run too."""
    return [
        (
            element.role,
            element.name,
            element.value,
            *(state for state in element.states if state != "focused"),
            *((option.label, option.selected) for option in element.options),
            element.detail,
        )
        for element in page.elements
    ]


def values_of(parameter: Parameter) -> tuple[str, object]:
    """Return the name of a parameter with the values it may take; of elements, how many there are."""
    choices = parameter.choices or ()
    is_free = parameter.type != "integer"
    return parameter.name, sorted(comparable(one.value) for one in choices) if is_free else len(choices)


class RunFacts:
    """One run of the trace. Methods raise TraceError where it is damaged."""

    def __init__(self, store: TraceStore, row: RunRow) -> None:
        self.store = store
        self.row = row
        self.records = lru_cache(maxsize=None)(self._records)
        """The records of a step, by its number."""

    @cached_property
    def steps(self) -> tuple[StepRow, ...]:
        """The steps that were decided on; all of them if none was."""
        steps = self.store.steps(self.row.run)
        return tuple(step for step in steps if step.action or step.outcome != "pending") or steps

    @cached_property
    def own_files(self) -> Mapping[str, str | None] | None:
        """As `TraceStore.own_files`."""
        return self.store.own_files(self.row.run)

    def is_stored(self, name: str) -> bool:
        """Return whether it is known which text of a file the run was made with."""
        return self.own_files is not None and self.own_files.get(name, "") is not None

    @cached_property
    def calls(self) -> Mapping[int, tuple[CallRecord, ...]]:
        """The LLM calls of each step."""
        by_step: dict[int, tuple[CallRecord, ...]] = {}
        for call in self.store.calls.of(self.row.run):
            by_step[call.step] = (*by_step.get(call.step, ()), call)
        return by_step

    def _records(self, step: int) -> tuple[PhaseRecord, ...]:
        return self.store.step(self.row.run, step).records

    def part(self, step: int, cls: type[R]) -> R | None:
        """Return what a phase of a step left."""
        return record_of(cls, self.records(step))

    def page(self, step: int) -> Observation | None:
        observed = self.part(step, Observed)
        return observed.observation if observed is not None else None

    def html(self, step: int) -> str:
        observed = self.part(step, Observed)
        return (
            self.store.blob(observed.html).decode(errors="replace")
            if observed is not None and observed.html
            else ""
        )

    def action(self, step: int) -> Action | None:
        return action_of(self.records(step))

    def state_of(self, step: int) -> str:
        recognised = self.part(step, Recognised)
        return recognised.state if recognised is not None else ""

    def frames(self, step: int) -> tuple[FrameRecord, ...]:
        """Return the policies at work, the one that acts last."""
        recognised = self.part(step, Recognised)
        return recognised.stack.frames if recognised is not None and recognised.stack is not None else ()

    def did(self, step: StepRow) -> str:
        """Return what a step did in words that are the same in another run of the task."""
        acted = self.part(step.number, Acted)
        return comparable(
            " ".join(filter(None, (step.action.partition(" ")[0], acted.target if acted else "")))
        )

    def traits(self, step: int) -> Iterator[tuple[str, object]]:
        """Yield what a step was like, in the order in which it came to be, each as it is in another run too."""
        page, recognised, acted = self.page(step), self.part(step, Recognised), self.part(step, Acted)
        abstracted, row = self.part(step, Abstracted), next(one for one in self.steps if one.number == step)
        yield "page", page and read_of(page)
        yield "state", self.state_of(step)
        offered = recognised.permissible.actions if recognised is not None else ()
        yield "offered", [(one.name, *map(values_of, one.parameters)) for one in offered]
        calls = [(one.purpose, comparable(self.prompt(one))) for one in self.calls.get(step, ())]
        yield "prompt", [one for one in calls if one[0] in BEFORE[:3]]
        yield "shown", abstracted and comparable(abstracted.clean.text)
        yield "prompt", [one for one in calls if one[0] in BEFORE]
        yield "action", self.did(row) if row.target else comparable(row.action)
        yield "effect", acted and (acted.outcome, [str(one.action) for one in acted.primitives])
        yield "judgement", [one for one in calls if one[0] not in BEFORE]

    def exemplars(self, step: int) -> tuple[Exemplar, ...]:
        """Return the exemplars that the prompt of a step had; those recalled for it if that is not known."""
        recalled = self.part(step, Recalled)
        if recalled is not None and recalled.recall is None and recalled.recalled_at is not None:
            recalled = self.part(recalled.recalled_at, Recalled)
        used = recalled.recall.used if recalled is not None and recalled.recall is not None else ()
        sent = exemplars_sent(self.store, self.calls.get(step, ()))
        return used if sent is None else tuple(one for one in used if one.id in {part.id for part in sent})

    def prompt(self, call: CallRecord) -> str:
        """Return the text of what was sent."""
        return "\n\n".join(
            message.text for message in stored_prompt(self.store, call).messages if message.text
        )

    def reply(self, call: CallRecord) -> LLMReply | None:
        return stored_reply(self.store, call)


class FileTexts:
    """The texts of an agent's files by their names: as they are now, and as a run was made with them."""

    def __init__(self, files: AgentFiles) -> None:
        self._files = files

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(self._files.names())

    def name_of(self, path: str) -> str:
        """Return the name of an agent's file; empty for one elsewhere."""
        try:
            return self._files.name_of(path)
        except BackstepError:
            return ""

    def bundled(self, name: str) -> str | None:
        """Return the text that Backstep brings; None if the file is the user's alone."""
        return self._files.bundled(name)

    def now(self, name: str) -> str | None:
        """Return the text of a file that holds; None if it is gone, or is no text."""
        try:
            return self._files.read(name) if name in self.names else None
        except BackstepError:
            return None

    def of(self, run: RunFacts, name: str) -> str | None:
        """Return the text of a file that a run was made with, that of now if it is not known; None for none."""
        return (run.own_files or {}).get(name, self.bundled(name)) if run.is_stored(name) else self.now(name)

    def changed_since(self, run: RunFacts, name: str) -> str:
        """Return a sentence if a file is not as it was in a run, as far as that is known; nothing if it is."""
        if run.is_stored(name) and name.partition("/")[0] in OWN_FOLDERS:
            then, now = self.of(run, name), self.now(name)
            is_same = then == now or (then is not None and now is not None and is_text_of(then, now))
            return "" if is_same else "The file is another one now than when the run began."
        try:
            is_later = self._files.target(name).stat().st_mtime > run.row.started
        except OSError:
            return ""  # The bundled file holds.
        return "Your copy of the file was saved after the run began." if is_later else ""


class FailureFacts(RunFacts):
    """A failed run, with the files of its agent and a success to compare it with."""

    def __init__(self, store: TraceStore, row: RunRow, resources: AgentResources, files: AgentFiles) -> None:
        super().__init__(store, row)
        self.resources = resources
        self.files = files
        self.texts = FileTexts(files)

    @cached_property
    def preset(self) -> Preset | None:
        try:
            return self.resources.presets.get(self.row.preset)
        except BackstepError:
            return None  # It is gone, or wrong, or of an attached agent.

    @cached_property
    def successes(self) -> list[RunRow]:
        """The successes of the same agent at the task, those that are most like the run first."""
        return own_successes(self.store, self.row)

    @cached_property
    def parted(self) -> Parting | None:
        """Where the run left these successes, or else what decided it by those of others."""
        if not self.successes:
            return deciding(self.store, self.row)
        return parting_of(self.store, self.row, self.successes)

    @cached_property
    def success(self) -> RunFacts | None:
        """A successful run on the same task, at the same seed if there is one."""
        return RunFacts(self.store, self.successes[0]) if self.successes else None

    @property
    def success_in_words(self) -> str:
        """The success, with its LLM where that is another than the run's; empty without one."""
        row = self.success.row if self.success is not None else self.row
        llm = f" with {row.llm}" if row.llm != self.row.llm else ""
        return f"run {row.run}, a success{llm}" if row is not self.row else ""

    @property
    def is_same_seed(self) -> bool:
        return self.success is not None and self.success.row.seed == self.row.seed

    @cached_property
    def at(self) -> int:
        """The step that decided the run: the first that no success took, else the last; 0 without steps."""
        if self.parted is not None and self.parted.did:
            return self.parted.step
        return self.steps[-1].number if self.steps else 0

    @cached_property
    def instead(self) -> StepRow | None:
        """The step that the success took in place of `at`."""
        numbers = [step.number for step in self.steps]
        if self.success is None or self.at not in numbers:
            return None
        index = numbers.index(self.at)
        return self.success.steps[index] if index < len(self.success.steps) else None

    def by_success(self, text: str, step: int = 0) -> tuple[Evidence, ...]:
        """Return evidence of what the success did; none without one."""
        run = self.success.row.run if self.success is not None else None
        return (Evidence(step=step, part="success", run=run, text=text),) if run is not None else ()

    def preset_place(self, *location: int | str) -> tuple[str, int]:
        """Return the preset's file and the line of a value in it, or the first; empty and 0 if the file is gone."""
        name = f"presets/{self.row.preset}.toml"
        text = self.texts.now(name)
        return ("", 0) if text is None else (name, layout(text).line_of(location) or 1)

    def preset_has(self, *location: int | str) -> bool:
        """Return whether the preset's file says something there."""
        return location in layout(self.texts.now(f"presets/{self.row.preset}.toml") or "").values

    @cached_property
    def differs(self) -> tuple[StepRow, StepRow, str] | None:
        """The first step that is not as in the success at the same seed, that one's, and what differs first.

        That is ``page``, ``state``, ``offered`` (what is permissible), ``shown`` (the clean observation), ``prompt``,
        ``action``, ``effect`` or ``judgement``; None if nothing does, or there is no such success.
        """
        success = self.success
        if success is None or not self.is_same_seed or success.row.preset != self.row.preset:
            return None
        for mine, theirs in zip(self.steps, success.steps, strict=False):
            pairs = zip(self.traits(mine.number), success.traits(theirs.number), strict=True)
            for (what, here), (_, there) in pairs:
                if not (is_text_of(str(here), str(there)) or is_text_of(str(there), str(here))):
                    return mine, theirs, what
        return None

    def is_first(self, step: int, what: str) -> bool:
        """Return whether this of a step is the first thing that is not as in the success."""
        return self.differs is not None and (self.differs[0].number, self.differs[2]) == (step, what)

    # Files

    @cached_property
    def space(self) -> StateSpace | None:
        """The state space that the run used, as its file is now."""
        for step in self.steps:
            recognised = self.part(step.number, Recognised)
            if recognised is not None and recognised.diagram is not None:
                try:
                    return self.resources.spaces.get(recognised.space)
                except BackstepError:
                    return None
        return None

    def state(self, name: str) -> tuple[int, SpaceState] | None:
        """Return a state of the space with its position in the file."""
        states = enumerate(self.space.state if self.space is not None else ())
        return next(((at, state) for at, state in states if state.name == name), None)

    def space_action(self, state: str, name: str) -> tuple[Location, SpaceAction] | None:
        """Return an action of a state with its location in the file."""
        place = self.state(state)
        actions = enumerate(place[1].action if place is not None else ())
        return next(
            ((("state", place[0], "action", at), one) for at, one in actions if place and one.name == name),
            None,
        )

    def line_in_space(self, *location: int | str) -> int:
        """Return the line of a value of the space's file, from 1; 0 if it is not there."""
        return (layout(self.space.text).line_of(location) or 0) if self.space is not None else 0

    @property
    def space_file(self) -> str:
        return self.texts.name_of(self.space.path) if self.space is not None and self.space.path else ""
