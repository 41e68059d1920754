"""Presets: files with the mechanisms of an agent, which a user can copy and change."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from annotated_types import Ge, Le
from pydantic import Field

from core.agent.policies.stack import StackLimits
from core.agent.spaces.file import Spaces
from core.llm.repair import ReplyFormat
from core.schema.action import ACTIONS
from core.schema.errors import UsageError
from core.schema.exemplar import RecallSettings
from core.schema.messages import Purpose, Sampling
from core.schema.record import Record
from core.schema.viewport import Viewport
from core.settings.user_file import MOST_TOLD, UserFile, near
from core.storage.resources import RESOURCES
from core.trace.records import ATTACHED_NAME

if TYPE_CHECKING:
    from core.agent.prompts import Prompts

PRESETS = RESOURCES / "presets"


Mechanism = Literal["states", "policies", "plan", "remedies", "judgement", "abstraction", "memory"]
"""What an agent is made of, each with a switch."""
TABLES: tuple[Mechanism, ...] = ("policies", "plan", "remedies", "judgement", "abstraction", "memory")
"""Those that a table of the preset's file switches on."""


ANY_SPACE = ("none", "general", "auto")
"""What `space` may say besides the name of a state space."""


class PoliciesTable(Record):
    """``[policies]``: policies and their stack."""

    limits: StackLimits = StackLimits()
    """``limits.depth`` and ``limits.calls``."""
    top: str = ""
    """The name of the policy that a run begins with; empty: the one whose file says so."""


class AbstractionTable(Record):
    """``[abstraction]``: how the observation is made clean."""

    how: Literal["ranked", "explicit", "implicit", "exemplars"] = "ranked"
    """``ranked``: by the words of the task, without an LLM. ``explicit``: the LLM writes it, shown pairs of
    page and clean observation. ``implicit``: the LLM writes a program that makes it. ``exemplars``: explicit if one of
    the recalled exemplars has pairs, implicit if one has a program, else ranked."""
    keep: int = Field(default=40, ge=1, le=10_000)
    """Elements kept when ranked."""
    pairs: int = Field(default=6, ge=0, le=50)
    """Pairs of page and clean observation that the LLM is shown, those of the nearest exemplars."""


class PlanTable(Record):
    """``[plan]``: subtasks in order, revised after a failed trial."""

    trials: int = Field(default=3, ge=1, le=100)
    """Trials at most, the first one among them."""
    actions: int = Field(default=30, ge=1, le=10_000)
    """Page actions of one trial at most; those of the whole task have their own limit."""


class RemediesTable(Record):
    """``[remedies]``: other actions prepared before the first one is carried out."""

    count: int = Field(default=2, ge=0, le=5)
    """Remedies asked for at each action."""
    effects: Literal["ask", "allow"] = "ask"
    """Whether going back for a remedy, or a new trial, stops where the page has sent something that stays done."""
    policies: bool = False
    """Whether calls of policies get remedies as well, and are judged when they return."""


class JudgementTable(Record):
    """``[judgement]``: the questions after an action."""

    mode: Literal["paper", "fast"] = "paper"
    """``paper``: one question after the other. ``fast``: one structured reply for all of them, and remedies
    are asked for while the action runs."""
    summarise_above: int = Field(default=3000, ge=200)
    """Tokens of a page from which a summary of it is judged: written by the LLM in paper mode, ranked by
    the words of the task in fast mode."""
    unclear: Literal["ask", "no"] = "ask"
    """What follows where the LLM says neither yes nor no, also when it is asked again. It counts as no;
    ``ask`` stops the run for the person at the window, who may overrule it."""
    ahead: Literal["free", "always", "never"] = "free"
    """Whether fast mode asks for the next action while this one is judged; the call that does not hold is
    withdrawn. ``free``: only where no price is known of the calls so far, as of a local LLM."""
    check_stop: bool = False
    """Whether the LLM is asked if the task is done before the agent may stop. If it says no, the stop is
    refused, once per page in each trial.
    """


class MemoryTable(RecallSettings):
    """``[memory]``: the exemplars of the prompt, and how they are chosen."""


AMOUNTS: dict[Mechanism, tuple[type[Record], str]] = {
    "plan": (PlanTable, "trials"),
    "remedies": (RemediesTable, "count"),
    "abstraction": (AbstractionTable, "keep"),
    "memory": (MemoryTable, "votes"),
}
"""The number of a mechanism that can be set while a run continues: the field of a table."""


def bounds(mechanism: Mechanism) -> tuple[int, int]:
    """Return the least and the most that the number of a mechanism may be."""
    table, amount = AMOUNTS[mechanism]
    limits = table.model_fields[amount].metadata
    least = next(limit.ge for limit in limits if isinstance(limit, Ge))
    most = next(limit.le for limit in limits if isinstance(limit, Le))
    return int(least), int(most)  # type: ignore[call-overload]


class PromptFiles(Record):
    """The templates of a preset, by their path in the prompts folder."""

    system: str
    """Empty: there is no system message."""
    user: str
    rationale: str = ""
    function: str = ""
    function_system: str = ""
    """Of two calls, what the second begins with, as a conversation of its own: `function` is then told the thought."""
    one_call: str = ""
    turn: str = "turn.j2"
    """One observation of a trajectory."""
    plan: str = "reflect/plan.j2"
    remedies: str = "reflect/remedies.j2"
    aligned: str = "reflect/aligned.j2"
    subtask: str = "reflect/subtask.j2"
    task: str = "reflect/task.j2"
    judgement: str = "reflect/judgement.j2"
    review: str = "reflect/review.j2"
    """Empty: a trial that failed is not reviewed; the next plan is shown what was done in it."""
    summarise: str = "reflect/summarise.j2"
    choose: str = "reflect/choose.j2"
    answer: str = "reflect/answer.j2"
    abstract: str = "synapse/abstract.j2"
    parser: str = "synapse/parser.j2"


class PresetFile(Record):
    """The keys of a preset file."""

    title: str
    description: str = ""
    space: str = Field(min_length=1)
    """``none``, ``general``, ``auto`` for the one that is meant for the page, or the name of a state space."""
    policies: PoliciesTable | None = None
    abstraction: AbstractionTable | None = None
    plan: PlanTable | None = None
    remedies: RemediesTable | None = None
    judgement: JudgementTable | None = None
    memory: MemoryTable | None = None
    trajectory: bool = False
    """Whether the run's own steps are shown as exemplars are: observation and reply in turn."""
    calls: Literal[1, 2] = 1
    """2: a rationale first, then the action."""
    samples: int = Field(default=1, ge=1, le=20)
    """Replies that are asked for at each decision; the action that most of them have is proposed."""
    reply_format: ReplyFormat | Literal["auto", "schema"] = "tools"
    """``auto``: what the LLM that decides was seen to answer best in a test; tools where it was not tested.
    ``schema``: JSON where it was seen to follow a JSON schema, else lines."""
    several_actions: bool = False
    """Whether one reply may hold several actions."""
    actions: tuple[str, ...] = ()
    """The actions of any page that are offered, notes and stopping among them; empty: all."""
    history: int = Field(default=20, ge=0, le=1000)
    """Earlier steps shown in the prompt."""
    viewport: Viewport | None = None
    """The size in which pages are seen, unless the task says one; None for that of the settings."""
    pictures: Literal["none", "plain", "outlines"] = "none"
    """The screenshot sent along, where the LLM takes pictures."""
    prompts: PromptFiles
    sampling: dict[Purpose, Sampling] = Field(default_factory=dict)


class Preset(PresetFile):
    """One agent: its observation, its actions, its prompts."""

    name: str
    reply_format: ReplyFormat = "tools"
    """What the file leaves open is settled by `answered_in`."""
    open_format: Literal["", "auto", "schema"] = ""
    """How the form of replies follows from what the LLM answers best, where the file leaves it open."""
    text: str = Field(default="", repr=False)
    """The file as it was read."""

    def answered_in(self, best: ReplyFormat, *, by_schema: bool) -> "Preset":
        """Return the preset with the form of replies that it leaves open: `best`, or JSON if it follows schemas."""
        if self.open_format == "schema":
            return self.replace(reply_format="json" if by_schema else "lines")
        return self.replace(reply_format=best) if self.open_format else self

    def has(self, mechanism: Mechanism) -> bool:
        """Return whether the file asks for a mechanism."""
        if mechanism == "states":
            return self.space != "none"
        return getattr(self, mechanism) is not None

    def amount(self, mechanism: Mechanism) -> int:
        """Return the number of a mechanism by the file, or by default."""
        table, amount = AMOUNTS[mechanism]
        return int(getattr(getattr(self, mechanism) or table(), amount))


ATTACHED = Preset(
    name=ATTACHED_NAME,
    title="Attached",
    description="An attached agent, which decides and acts itself.",
    space="none",
    prompts=PromptFiles(system="", user=""),
)
"""What a run of an attached agent is stored with."""


class Presets:
    """The presets of the installation and of the user's folder, which wins; read again when asked for.

    With `prompts` and `spaces`, the templates and the state space of a preset are checked too.
    """

    def __init__(
        self,
        folders: Iterable[Path] = (PRESETS,),
        prompts: "Prompts | None" = None,
        spaces: Spaces | None = None,
    ) -> None:
        self._folders = tuple(folders)
        self._prompts = prompts
        self._spaces = spaces

    def names(self) -> tuple[str, ...]:
        return tuple(sorted({path.stem for path in self._files()}, key=lambda name: (name != "plain", name)))

    def get(self, name: str) -> Preset:
        """Return a preset as its file has it now.

        Raises UsageError for an unknown name, and DataError with file, line and
        nearest valid name for a file, or a template it names, that is wrong.
        """
        for path in reversed(self._files()):
            if path.stem == name:
                preset = read_preset(path)
                if self._prompts is not None:
                    _check_prompts(preset, path, self._prompts)
                if self._spaces is not None:
                    _check_space(preset, path, self._spaces)
                return preset
        raise UsageError(f'There is no preset "{name}"; {near(name, self.names())}')

    def _files(self) -> list[Path]:
        return [path for folder in self._folders for path in sorted(folder.glob("*.toml"))]


def read_preset(path: Path) -> Preset:
    """Read one preset file; raises DataError with file, line, key and nearest valid key."""
    return _preset(UserFile.read(path))


@lru_cache(maxsize=256)
def _preset(source: UserFile) -> Preset:
    file = source.validated(PresetFile)
    wrong = (
        (("actions", number), f'there is no action "{action}"; {near(action, ACTIONS)}')
        for number, action in enumerate(file.actions)
        if action not in ACTIONS
    )
    if problems := tuple(islice(wrong, MOST_TOLD)):
        raise source.first_error(problems)
    if file.calls == 2:
        for part in ("rationale", "function"):
            if not getattr(file.prompts, part):
                missing = f'two calls need the prompt "{part}" in [prompts]; add it, or set calls = 1.'
                raise source.error(("calls",), missing)
    values = dict(file)
    if file.reply_format in ("auto", "schema"):
        untested = "tools" if file.reply_format == "auto" else "lines"
        values |= {"reply_format": untested, "open_format": file.reply_format}
    return Preset(**values, name=source.path.stem, text=source.text)


def _check_prompts(preset: Preset, path: Path, prompts: "Prompts") -> None:
    """Raise DataError if a template is missing, at the line that names it, or is itself wrong."""
    names = prompts.names()
    for part, template in preset.prompts:
        if not template:
            continue
        if template not in names:
            unknown = f'there is no prompt "{template}"; {near(template, names)}'
            raise UserFile(path, preset.text).error(("prompts", part), unknown)
        if not prompts.is_bundled(
            template
        ):  # Ours are checked by their tests, and again when they are rendered.
            prompts.check(template)


def _check_space(preset: Preset, path: Path, spaces: Spaces) -> None:
    names = (*ANY_SPACE, *spaces.names())
    if preset.space not in names:
        unknown = f'there is no state space "{preset.space}"; {near(preset.space, names)}'
        raise UserFile(path, preset.text).error(("space",), unknown)
