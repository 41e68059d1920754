"""Reads and checks state-space files (format: resources/state_spaces/README.md), and finds them.

It checks the names in a file: states that actions lead to, arguments that steps use, patterns and expressions.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from core.schema.action import ACTIONS
from core.schema.action_space import ParameterType
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError, DataError, UsageError
from core.schema.expression import compiled
from core.schema.pattern import Expression, PatternText
from core.schema.record import Record
from core.settings.toml_layout import Location
from core.settings.user_file import MOST_TOLD, Problem, UserFile, near
from core.storage.resources import RESOURCES

NAME = r"[A-Za-z][A-Za-z0-9_]*"
PLACEHOLDER = re.compile(r"\{(\w+)\}")
_VALUES = ("1", "up", "accept", "1,1")
"""Wherever the value of an argument may stand in an action, one of these can be read."""
_MOST_TRIED = 4096
"""How many actions a step is tried as."""


def _selector(text: str) -> str:
    if not text:
        return text
    import soupsieve  # It takes long to load, and few spaces read the HTML.

    try:
        soupsieve.compile(text)
    except soupsieve.SelectorSyntaxError as error:
        raise ValueError(f"it is not a CSS selector ({str(error).splitlines()[0]})") from error
    return text


Selector = Annotated[str, AfterValidator(_selector)]
Name = Annotated[str, Field(pattern=f"^{NAME}$", max_length=64)]


class FromPage(Record):
    """Where the values of an argument are found on the page: in elements, or in an attribute of the HTML."""

    element: PatternText = ""
    """A pattern; of an expression the group ``value`` is the value and ``label`` its words, else the name."""
    within: PatternText = ""
    """Only inside elements that fit this."""
    options: bool = False
    """Take the options of the elements (selects) instead of their names."""
    css: Selector = ""
    attribute: str = ""

    def problem(self) -> str:
        """Return what is wrong with it, or nothing."""
        if bool(self.element) == bool(self.css):
            return "give either element or css"
        if self.css and not self.attribute:
            return "css needs the attribute to read"
        return ""


class ParameterFile(Record):
    """An argument of a state's action."""

    name: Name
    type: ParameterType = "string"
    description: str = ""
    required: bool = True
    choices: tuple[str, ...] = ()
    """The only values there are; with `from_page` none."""
    from_page: FromPage | None = None
    needs: tuple[PatternText, ...] = ()
    """Elements without which the argument is not there."""


class OptionGroups(Record):
    """Arguments that the page itself names: one for each group of choices, such as sizes and colours."""

    group: PatternText
    """Each element that fits is one argument, called by its name."""
    choice: PatternText = ""
    """The elements inside that can be chosen; empty if the group is a select with options."""
    required: bool = True


class SpaceAction(Record):
    """An action of a state, and its page actions."""

    name: Name
    description: str = Field(min_length=1)
    parameter: tuple[ParameterFile, ...] = ()
    option_groups: OptionGroups | None = None
    does: tuple[str, ...] = ()
    """Actions in their text form with ``{argument}``; one with ``{choice}`` is done for each option given."""
    needs: tuple[PatternText, ...] = ()
    """Elements without which the action is not offered; a link to the page one is on does not count."""
    leads_to: tuple[str, ...] = ()
    """States it may lead to; empty: any."""
    cannot_be_undone: bool = False
    remembers: dict[str, str] = {}
    """What later states are shown, by name, such as what was searched for: ``{argument}`` in words."""
    sets_aside: str = ""
    """The candidate that the action leaves for another, by a remembered name; it goes to the buffer."""
    reads: str = ""
    """What of the state's `keeps` the action shows; once that is kept of a candidate, it is not offered again."""
    marks: str = ""
    """An argument whose value is marked as looked at wherever it is on offer again."""


class SpaceState(Record):
    """A kind of page."""

    name: Name
    title: str = ""
    url: Expression = ""
    """A regular expression found in the URL."""
    must: tuple[PatternText, ...] = ()
    must_not: tuple[PatternText, ...] = ()
    in_order: bool = False
    """Whether the elements of `must` have to come in this order in the document."""
    instruction: str = ""
    layout: str = ""
    """What a page of this state looks like, for the prompt."""
    shows: tuple[str, ...] = ()
    """Remembered things that the prompt of this state tells."""
    stops: bool = False
    """Whether the run is over when it is reached."""
    candidate: str = ""
    """The remembered name whose value is what this page shows, such as ``item_id``."""
    candidate_from: FromPage | None = None
    """Where the page itself says which candidate it shows; else it is what was remembered on the way there."""
    keeps: dict[str, PatternText] = {}
    """What is kept of each candidate from its pages: a name, and the elements whose text it is."""
    page_actions: bool = False
    """Whether all that the page offers is permissible too."""
    action: tuple[SpaceAction, ...] = ()

    def action_named(self, name: str) -> SpaceAction | None:
        return next((action for action in self.action if action.name == name), None)


class Backup(Record):
    """The backup strategy: when the budget is used up, a candidate of the buffer is chosen."""

    transitions: int = Field(default=15, ge=1, le=1000)
    choose_at: int = Field(default=13, ge=1, le=1000)
    """After this many transitions the agent has to choose."""
    question: str = ""
    """What the LLM is asked then, besides the buffer."""
    instruction: str = Field(
        default="The steps are nearly used up and nothing more can be looked at. Choose the candidate that comes "
        "nearest to the task; none has to fit in every point.",
        min_length=1,
    )
    """What it is told then, in place of the instruction of the page's state."""
    last_instruction: str = Field(
        default="The choice is made and nothing else can be looked at. End the task with what was chosen.",
        min_length=1,
    )
    """What it is told after the choice, in the same place, where one of the last actions is on offer."""
    returns: str = "goto [{url}]"
    """The action that goes back to the chosen candidate: ``{url}`` and ``{candidate}`` are known."""
    last_actions: tuple[str, ...] = ()
    """Actions still permissible after that."""


class SpaceFile(Record):
    """The keys of a state-space file."""

    title: str = Field(min_length=1)
    description: str = ""
    environments: tuple[str, ...] = ()
    """Environments it is for; empty: by `url` alone."""
    url: Expression = ""
    may_stop: bool = True
    """Whether the agent may stop in any state; else only states that stop end a run."""
    backup: Backup | None = None
    state: tuple[SpaceState, ...] = Field(min_length=1)


class StateSpace(SpaceFile):
    """A valid state space."""

    name: str
    text: str = Field(default="", repr=False)
    """The file as it was read."""
    path: str = ""

    def state_named(self, name: str) -> SpaceState | None:
        return next((state for state in self.state if state.name == name), None)


def read_space(path: Path) -> StateSpace:
    """Read a state-space file; raises DataError with file, line, what is wrong and the nearest valid name."""
    return _space(UserFile.read(path))


@lru_cache(maxsize=256)
def _space(file: UserFile) -> StateSpace:
    path = file.path
    space = StateSpace(**dict(file.validated(SpaceFile)), name=path.stem, text=file.text, path=str(path))
    if problems := tuple(islice(_problems(space), MOST_TOLD)):
        raise file.first_error(problems)
    return space


def _problems(space: StateSpace) -> Iterator[Problem]:
    names = tuple(state.name for state in space.state)
    remembered = {name for state in space.state for action in state.action for name in action.remembers}
    known = tuple(sorted(remembered))
    for number, state in enumerate(space.state):
        here: Location = ("state", number)
        if state.name in names[:number]:
            yield (*here, "name"), f'there are two states called "{state.name}": rename one of them.'
        if not (state.url or state.must):
            yield here, f'the state "{state.name}" matches every page: give it a url or elements in must.'
        for position, action in enumerate(state.action):
            place = (*here, "action", position)
            if action.name in [other.name for other in state.action[:position]]:
                yield (*place, "name"), f'"{state.name}" has two actions called "{action.name}".'
            yield from _action_problems(action, place, names, state)
        yield from _unknown((*here, "shows"), "no action remembers", state.shows, known)
        if state.candidate:
            yield from _unknown((*here, "candidate"), "no action remembers", [state.candidate], known)
        for key in ("candidate_from", "keeps"):
            if getattr(state, key) and not state.candidate:
                yield (*here, key), f'"{state.name}" has no candidate, which this key needs: add candidate.'
        if state.candidate_from is not None and (problem := state.candidate_from.problem()):
            yield (*here, "candidate_from"), f"the candidate cannot be found: {problem}."
    if space.backup is not None:
        yield from _backup_problems(space, space.backup)


def _action_problems(
    action: SpaceAction, place: Location, states: tuple[str, ...], state: SpaceState
) -> Iterator[Problem]:
    if action.name in ACTIONS:
        yield (*place, "name"), f'"{action.name}" is the name of a page action: choose another.'
    yield from _unknown((*place, "leads_to"), "there is no state", action.leads_to, states)
    if not action.does:
        yield place, f'the action "{action.name}" does nothing: list its page actions in does.'
    for number, parameter in enumerate(action.parameter):
        where = (*place, "parameter", number)
        if parameter.name in [other.name for other in action.parameter[:number]]:
            yield (*where, "name"), f'"{action.name}" has two arguments called "{parameter.name}".'
        if parameter.from_page is not None and (problem := parameter.from_page.problem()):
            yield (*where, "from_page"), f'the values of "{parameter.name}" cannot be found: {problem}.'
        if parameter.from_page is not None and parameter.choices:
            yield (*where, "choices"), f'"{parameter.name}" has choices and from_page: keep one.'
    arguments = {parameter.name: parameter.choices for parameter in action.parameter}
    options = ("choice", "choice_ref", "group") if action.option_groups is not None else ()
    for step in action.does:
        yield from _step_problems((*place, "does"), step, dict.fromkeys(options, ()) | arguments)
    for text in action.remembers.values():
        used = PLACEHOLDER.findall(text)
        yield from _unknown((*place, "remembers"), "there is no argument", used, arguments)
    if action.sets_aside:
        candidate = tuple(filter(None, (state.candidate,)))
        said = f'"{state.name}" has no candidate'
        yield from _unknown((*place, "sets_aside"), said, [action.sets_aside], candidate)
    if action.reads:
        kept = tuple(state.keeps)
        yield from _unknown((*place, "reads"), f'"{state.name}" does not keep', [action.reads], kept)
    if action.marks:
        yield from _unknown((*place, "marks"), "there is no argument", [action.marks], arguments)


def _backup_problems(space: StateSpace, backup: Backup) -> Iterator[Problem]:
    if backup.choose_at > backup.transitions:
        yield ("backup", "choose_at"), "choose_at is greater than transitions, when the run is already over."
    yield from _step_problems(("backup", "returns"), backup.returns, {"url": (), "candidate": ()})
    actions = tuple(action.name for state in space.state for action in state.action)
    yield from _unknown(("backup", "last_actions"), "there is no action", backup.last_actions, actions)
    if not any(state.candidate for state in space.state):
        yield ("backup",), "no state has a candidate, so nothing could be chosen when the budget is used up."


def _step_problems(place: Location, step: str, arguments: Mapping[str, tuple[str, ...]]) -> Iterator[Problem]:
    """Give what is wrong with a step; `arguments` are the choices of each by name, none where any value may do."""
    yield from _unknown(place, f'"{step}" uses', PLACEHOLDER.findall(step), arguments)
    if why := _not_an_action(step, arguments):
        yield place, f"{step!r} is not an action of a page: {why}"


def _not_an_action(step: str, arguments: Mapping[str, tuple[str, ...]]) -> str:
    """Return why a step cannot be read whatever the values of its arguments are; empty if it can be."""
    names = sorted(set(PLACEHOLDER.findall(step)))
    values = product(*(arguments.get(name) or _VALUES for name in names))
    why: list[str] = []
    for chosen in islice(values, _MOST_TRIED):
        try:
            parse_action(filled(step, dict(zip(names, chosen, strict=True))))
        except ActionSyntaxError as error:
            why.append(str(error))
        else:
            return ""
    return why[0]


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return the template with its values, each as it has to be written where it stands."""

    def written(match: re.Match[str]) -> str:
        value = values.get(match[1], "")
        part = template[template.rfind("[", 0, match.start()) : match.start()]
        if part.count('"') % 2:
            value = json.dumps(value, ensure_ascii=False)[1:-1]
        return re.sub(r"([\\\[\]])", r"\\\1", value)

    return PLACEHOLDER.sub(written, template)


def _unknown(place: Location, said: str, names: Iterable[str], known: Collection[str]) -> Iterator[Problem]:
    for name in names:
        if name not in known:
            yield place, f'{said} "{name}"; {near(name, known)}'


# All spaces

SPACES = RESOURCES / "state_spaces"


class Spaces:
    """Finds a space by its name, or the one for an environment and a page."""

    def __init__(self, folders: Iterable[Path] = (SPACES,)) -> None:
        self._folders = tuple(folders)

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._files()))

    def get(self, name: str) -> StateSpace:
        """Return a space as its file has it now; raises UsageError for an unknown name, DataError for a bad file."""
        path = self._files().get(name)
        if path is None:
            raise UsageError(f'There is no state space "{name}"; {near(name, self.names())}')
        return read_space(path)

    def for_page(self, environment: str, url: str) -> StateSpace | None:
        """Return the space that is meant for pages of this environment and URL, or None.

        Raises DataError if a file that could be meant is wrong.
        """
        for name in self.names():
            space = self.get(name)
            if space.environments and environment not in space.environments:
                continue
            if space.url and not compiled(space.url).search(url):
                continue
            if space.environments or space.url:
                return space
        return None

    def problems(self) -> tuple[str, ...]:
        """Return a sentence for each file that cannot be used."""
        found: list[str] = []
        for name in self.names():
            try:
                self.get(name)
            except DataError as error:
                found.append(str(error))
        return tuple(found)

    def _files(self) -> dict[str, Path]:
        return {path.stem: path for folder in self._folders for path in sorted(folder.glob("*.toml"))}
