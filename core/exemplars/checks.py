"""Finds problems of an exemplar, each with its place, in pure functions.

Only the program for implicit abstraction must be run to check it, in the sandbox of `core.sandbox`.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from pydantic import ValidationError

from core.exemplars.content_checks import check_content
from core.exemplars.library.records import ANY, Entry, Filter, LibraryRow
from core.exemplars.problem import Level, Problem
from core.llm.costs import count_tokens
from core.sandbox.process import Parsed
from core.schema.action import Action, RefTarget, RoleTarget, Stop, Type
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError
from core.schema.exemplar import Draft, DraftStep, Exemplar, RecallSettings
from core.schema.observation import HIDDEN_TEXT, is_hidden
from core.schema.secrets import names_in
from core.settings.toml_layout import Location

if TYPE_CHECKING:
    # Loading SQLite takes long.
    from core.exemplars.library.store import Library

MOST_TOKENS = 4000
"""Tokens of a trajectory beyond which it is reported as over-long: eight of them go into a prompt."""

RunIsSuccess = Callable[[int], bool | None]
"""Tells whether a run of the trace was a success; None if that is not known."""

_REF = re.compile(r"""^\s*\[(\d+)\]|\b[\w-]*(?:ref|id)\s*=\s*["'](\d+)["']""", re.MULTILINE)
"""The number of an element, also in the HTML that other programs keep."""
_HIDDEN = re.compile(r'^\s*\[(\d+)\].* value="•+"', re.MULTILINE)
_TAG = re.compile(r"<[a-z][a-z0-9]*[\s>]", re.IGNORECASE)
_ALWAYS = re.compile(
    r"not valid Python|neither defines|takes no HTML|not a function that|value of type|may not|missing \d+ required"
    r"|NameError|ImportError|ModuleNotFoundError"
)
"""What fails on any page."""
_EMPTY_PAGE = "<html><body><p>An empty page.</p></body></html>"


_MISSING = {
    "id": "An id has lowercase letters, digits and . _ / - and begins with a letter or digit. At most 120 characters.",
    "family": "Enter a family. Exemplars of one family are shown together.",
    "task": "Enter the task: the instruction that was followed.",
    "steps": "There are no looks. Insert one.",
    "actions": "This look has no action. Enter one, or delete the look.",
    "tried": "Enter what was tried.",
    "right": "Enter what would have been right.",
}


class Checker:
    """Checks exemplars one after another, each against those before it; the same program on the same page runs once."""

    def __init__(
        self,
        is_success: RunIsSuccess | None,
        policies: Collection[str],
        most_tokens: int = MOST_TOKENS,
        *,
        unplayed: Mapping[str, LibraryRow] = MappingProxyType({}),
    ) -> None:
        """`policies` are the names of those that actions may call, `unplayed` the exemplars whose replay failed."""
        self._unplayed = unplayed
        self._is_success = is_success
        self._policies = policies
        self._most_tokens = most_tokens
        self._worked: set[tuple[str, str]] = set()
        self._done: dict[tuple[str, str], tuple[str, str]] = {}
        """What was done first on the page of a task, and by which exemplar."""

    async def problems(self, entry: Entry) -> tuple[Problem, ...]:
        """Return what is wrong with one."""
        exemplar = entry.exemplar
        page = exemplar.abstraction[0].state if exemplar.abstraction else ""
        key = (exemplar.parser, page if "<" in page else "")
        problems = await check(
            exemplar,
            run=entry.provenance.run,
            is_success=self._is_success,
            most_tokens=self._most_tokens,
            with_parser=key not in self._worked,
            policies=self._policies,
        )
        if not any(problem.kind == "parser" for problem in problems):
            self._worked.add(key)
        return (*problems, *self._contradictions(exemplar), *self._replay(exemplar.id))

    def _replay(self, id: str) -> Iterator[Problem]:
        if (row := self._unplayed.get(id)) is not None:
            when = " before it was changed" if row.is_played_old else ""
            yield Problem(
                id=id,
                kind="replay",
                text=f"Its last replay{when} was no success. Replay it again, or mend it.",
            )

    def _contradictions(self, exemplar: Exemplar) -> Iterator[Problem]:
        for number, step in enumerate(exemplar.steps):
            if not step.observation.strip():
                continue
            page = (" ".join(exemplar.task.split()), step.observation)
            other, action = self._done.setdefault(page, (exemplar.id, step.actions[0]))
            if other != exemplar.id and action != step.actions[0]:
                text = f"On the same page of the same task, {other} does {action} first."
                yield Problem(id=exemplar.id, kind="contradiction", at=("steps", number), text=text)


def unplayed(library: "Library") -> dict[str, LibraryRow]:
    """Return the exemplars whose last replay was no success, by id."""
    return {row.id: row for row in library.rows(Filter(found=("does not play",), statuses=ANY))}


async def check(
    exemplar: Exemplar,
    *,
    run: int | None = None,
    is_success: RunIsSuccess | None = None,
    most_tokens: int = MOST_TOKENS,
    with_parser: bool = True,
    policies: Collection[str] = (),
) -> tuple[Problem, ...]:
    """Return all that is wrong with an exemplar, in the order of its parts.

    Its actions may call `policies`, by their names.
    """
    return (
        *check_actions(exemplar, policies),
        *check_contrasts(exemplar, policies),
        *check_secrets(exemplar),
        *check_content(exemplar),
        *(await check_parser(exemplar) if with_parser else ()),
        *check_length(exemplar, most_tokens),
        *check_run(exemplar, run, is_success),
    )


def check_draft(
    draft: Draft,
    *,
    run: int | None = None,
    is_success: RunIsSuccess | None = None,
    policies: Collection[str] = (),
) -> tuple[Problem, ...]:
    """Return all that is wrong with a draft, as `check` does without running its program; first what stops it."""
    missing = check_whole(draft)
    places = {problem.at for problem in missing}
    others = (
        *check_actions(draft, policies),
        *check_contrasts(draft, policies),
        *check_secrets(draft),
        *(one for one in check_content(draft) if one.kind != "page" or not missing),
        *(check_length(draft) if draft.steps else ()),
        *check_run(draft, run, is_success),
    )
    return (*missing, *(other for other in others if not {other.at, other.at[:2]} & places))


def check_whole(draft: Draft) -> tuple[Problem, ...]:
    """Return what keeps a draft from being stored, in the order of its parts."""
    try:
        draft.exemplar()
    except ValidationError as error:
        problems = (_missing(draft.id, one["loc"], one["msg"]) for one in error.errors(include_url=False))
        # Looks that are wrong do not count for pydantic: there may seem to be none.
        return tuple(problem for problem in problems if problem.at != ("steps",) or not draft.steps)
    return ()


def _missing(id: str, location: tuple[int | str, ...], message: str) -> Problem:
    name = str(next(part for part in reversed(location) if isinstance(part, str)))
    text = _MISSING.get(name, f"{name} cannot be used: {message}.")
    return Problem(id=id, kind="missing", at=location, text=text, level="stops")


def check_actions(exemplar: Draft, policies: Collection[str] = ()) -> Iterator[Problem]:
    """Yield the actions that cannot be read, and those on elements that their look does not show."""
    id, looks = exemplar.id, len(exemplar.steps)
    for at, step, text in _actions_of(exemplar):
        action = _read(id, text, at, policies)
        if isinstance(action, Problem):
            yield action
            continue
        yield from _absent(id, action, step.observation, at)
        is_last = at == ("steps", looks - 1, "actions", len(step.actions) - 1)
        if isinstance(action, Stop) and not is_last:
            message = f"{text} ends the task, but more actions follow."
            yield Problem(id=id, kind="action", at=at, text=message)


def _actions_of(exemplar: Draft) -> Iterator[tuple[Location, DraftStep, str]]:
    """Give each action with its place and its look."""
    for number, step in enumerate(exemplar.steps):
        for place, text in enumerate(step.actions):
            yield ("steps", number, "actions", place), step, text


def unreadable(exemplar: Draft) -> str:
    """Return the first action that cannot be read, with its place, in a sentence; empty if all can."""
    texts = [(at, text, tuple[str, ...]()) for at, _, text in _actions_of(exemplar)]
    for number, contrast in enumerate(exemplar.contrasts):
        texts.append((("contrasts", number), contrast.right, contrast.names))
    for at, text, names in texts:
        found = _read(exemplar.id, text, at, names)
        if isinstance(found, Problem):
            return f"{found.where}: {found.text}"
    return ""


def fault(exemplar: Draft) -> str:
    """Return the first fault for which it is not to be prompted with, with its place; empty if there is none.

    Whether policies may be called, its program and the run that it came from are not looked at.
    """
    if words := unreadable(exemplar):
        return words
    found = (*check_actions(exemplar), *check_secrets(exemplar), *check_content(exemplar))
    first = next((one for one in found if one.level == "fault"), None)
    return f"{first.where}: {first.text}".removeprefix(": ") if first else ""


def check_contrasts(exemplar: Draft, policies: Collection[str] = ()) -> Iterator[Problem]:
    """Yield what is wrong with the mistakes that are shown and what would have been right."""
    id = exemplar.id
    for number, contrast in enumerate(exemplar.contrasts):
        at: Location = ("contrasts", number)
        names = (*contrast.names, *policies)
        tried = _read(id, contrast.tried, (*at, "tried"), names)
        right = _read(id, contrast.right, (*at, "right"), names)
        if isinstance(tried, Problem):
            yield tried
        if isinstance(right, Problem):
            yield right
        else:
            yield from _absent(id, right, contrast.observation, (*at, "right"))
        if not any(step.observation == contrast.observation for step in exemplar.steps):
            message = "Its page is not one of the looks, so prompts do not show it."
            yield Problem(id=id, kind="element", at=at, text=message, level="note")
        if contrast.tried == contrast.right:
            message = "The mistake and the correction are the same."
            yield Problem(id=id, kind="action", at=at, text=message)


def check_secrets(exemplar: Draft) -> Iterator[Problem]:
    """Yield what is typed into fields that hide it, as the looks show: prompts would tell it."""
    hidden = {
        int(ref) for step in exemplar.steps for ref in _HIDDEN.findall(f"{step.observation}\n{step.raw}")
    }
    for at, _, text in _actions_of(exemplar):
        action = _read(exemplar.id, text, at)
        target = getattr(action, "target", None)
        if isinstance(action, Type) and is_hidden(action.text):
            yield Problem(id=exemplar.id, kind="secret", at=at, text=f"{text}: {HIDDEN_TEXT}")
        is_typed = isinstance(action, Type) and not is_hidden(action.text) and not names_in(action.text)
        if is_typed and isinstance(target, RefTarget) and target.ref in hidden:
            message = "It types into a field that hides its text, such as a password. Prompts would show it."
            yield Problem(id=exemplar.id, kind="secret", at=at, text=message, level="note")


async def check_parser(exemplar: Draft) -> tuple[Problem, ...]:
    """Run the program for implicit abstraction on a page of the exemplar, if one is kept as HTML.

    On an empty page in its place only what fails on any page is reported.
    """
    if not exemplar.parser.strip():
        return ()
    # Only those who run it wait for what that needs to be loaded.
    from core.sandbox.running import run_parser

    pages = [
        one for one in (*(pair.state for pair in exemplar.abstraction), exemplar.metadata) if _TAG.search(one)
    ]
    parsed: Parsed = await run_parser(exemplar.parser, pages[0] if pages else _EMPTY_PAGE, task=exemplar.task)
    if not parsed.error:
        return ()
    if not parsed.seconds and not _ALWAYS.search(parsed.error):
        text = f"It could not be run: {parsed.error}"
        return (Problem(id=exemplar.id, kind="parser", at=("parser",), text=text, level="note"),)
    if not pages and not _ALWAYS.search(parsed.error):
        return ()
    return (Problem(id=exemplar.id, kind="parser", at=("parser",), text=parsed.error),)


def check_length(exemplar: Draft, most_tokens: int = MOST_TOKENS) -> tuple[Problem, ...]:
    """Return whether the trajectory is over-long, and which look has most of it."""
    sizes = [
        count_tokens("\n".join((step.observation, step.thought, *step.actions))) for step in exemplar.steps
    ]
    total = sum(sizes)
    if total <= most_tokens:
        return ()
    longest = max(range(len(sizes)), key=lambda number: sizes[number])
    text = f"It has about {total} tokens, more than {most_tokens}; look {longest + 1} alone has {sizes[longest]}."
    level: Level = "note"
    if total > RecallSettings().tokens:
        level = "fault"
        text += (
            f" Presets use {RecallSettings().tokens} tokens of exemplars at most, unless they say otherwise."
        )
    return (Problem(id=exemplar.id, kind="length", at=("steps", longest), text=text, level=level),)


def check_run(exemplar: Draft, run: int | None, is_success: RunIsSuccess | None) -> tuple[Problem, ...]:
    """Return whether the run that it came from was not a success, as far as the trace knows."""
    if run is None or is_success is None or is_success(run) is not False:
        return ()
    return (Problem(id=exemplar.id, kind="run", text=f"Its source, run {run}, was not judged a success."),)


def _read(id: str, text: str, at: Location, names: Iterable[str] = ()) -> Action | Problem:
    try:
        return parse_action(text, names)
    except ActionSyntaxError as error:
        return Problem(id=id, kind="action", at=at, text=str(error))


def _absent(id: str, action: Action, observation: str, at: Location) -> Iterator[Problem]:
    refs = {int(line or attribute) for line, attribute in _REF.findall(observation)}
    for target in action.targets if observation else ():
        absent = (isinstance(target, RefTarget) and target.ref not in refs) or (
            isinstance(target, RoleTarget) and not _shows(observation, target)
        )
        if absent:
            message = f"{action} names [{target}], which its look does not show."
            yield Problem(id=id, kind="element", at=at, text=message)


def _shows(observation: str, target: RoleTarget) -> bool:
    return any(
        f'{target.role} "{target.name}"' in line if target.name else re.search(rf"\b{target.role}\b", line)
        for line in observation.splitlines()
    )
