"""Sessions that people had in WebShop: JSON lines, a visited page each.

A session tells pages and not actions: an action is what leads from one page
to the next. Nor does it tell what the pages show besides ids and options, so
an observation holds these, and the buttons that this kind of page always has.
"""

import json
import re
from itertools import pairwise
from typing import Annotated, Any, Literal, get_args
from urllib.parse import unquote, urlsplit

from core.exemplars.exchange.documents import Document
from core.exemplars.exchange.foreign import (
    AnyNumber,
    AnyTexts,
    Foreign,
    MaybeObject,
    MaybeText,
    MisplacedError,
    Text,
    null_is,
    parsed,
    plain,
)
from core.exemplars.exchange.reading import LeftOutError, Reading, id_of
from core.schema.action import Action, Click, Goto, RoleTarget, Type
from core.schema.exemplar import ExemplarStep
from core.trace.imports.records import FaultyError

_Kind = Literal["index", "search_results", "item_page", "item_sub_page", "done"]
_PARTS = ("Description", "Features", "Reviews", "Attributes")
_SEARCH = RoleTarget(role="textbox", name="Search...")


class _Goal(Foreign):
    instruction_text: Text


class _Content(Foreign):
    keywords: Any = None
    page: Any = None
    """Which page of the results."""
    asin: MaybeText = ""
    options: MaybeObject = {}
    search_result_asins: AnyTexts = []


class _Visit(Foreign):
    """One line of the file."""

    page: _Kind
    goal: _Goal
    url: MaybeText = ""
    content: Annotated[_Content, null_is({})] = _Content()
    reward: AnyNumber = None

    @property
    def task(self) -> str:
        return self.goal.instruction_text.strip() or "Buy what fits."

    @property
    def path(self) -> list[str]:
        """The parts of its address: the page, the session, the item, and so on; the start page has only the session."""
        try:
            parts = [part for part in urlsplit(self.url).path.split("/") if part]
        except ValueError:
            parts = []
        return ["", *parts[-1:]] if self.page == "index" else parts

    @property
    def trial(self) -> tuple[str, str]:
        """What the pages of a session have in common: its name, and its task."""
        return self.path[1] if len(self.path) > 1 else "", self.task

    @property
    def search(self) -> tuple[str, int]:
        """The words that were searched for, and which page of the results it is."""
        words, number = self.content.keywords, str(self.content.page)
        if isinstance(words, str):  # As Python prints a list.
            words = [one or two for one, two in re.findall(r"""'([^']*)'|"([^"]*)\"""", words)]
        said = " ".join(filter(plain, words)) if isinstance(words, list) else ""
        return said, int(number) if re.fullmatch(r"[0-9]{1,6}", number) else 1

    @property
    def part(self) -> str:
        """Which of the item's parts is open."""
        return unquote(self.path[5]) if self.page == "item_sub_page" and len(self.path) > 5 else ""

    @property
    def observation(self) -> str:
        lines = [f"text {_quoted(f'Instruction: {self.task}')}"]
        if self.page == "index":
            return "\n".join([*lines, 'textbox "Search..."', 'button "Search"'])
        lines.append('button "Back to Search"')
        words, number = self.search
        match self.page:
            case "search_results":
                lines.append(f"text {_quoted(f'Page {number} of the results for {words}')}")
                lines += ['button "< Prev"'] if number > 1 else []
                lines += [
                    'button "Next >"',
                    *(f"link {_quoted(asin)}" for asin in self.content.search_result_asins),
                ]
            case "item_page":
                lines += ['button "< Prev"', f"text {_quoted(f'Item {self.content.asin}')}"]
                for name, value in self.content.options.items():
                    lines.append(f"radio {_quoted(str(value))} checked ({' '.join(name.split())})")
                lines += [*(f'button "{part}"' for part in _PARTS), 'button "Buy Now"']
            case "item_sub_page":
                part = f"{self.part or 'A part'} of item {self.content.asin}"
                lines += ['button "< Prev"', f"text {_quoted(part)}"]
        return "\n".join(lines)


def is_webshop(document: Document) -> bool:
    lines = [line.value for line in document.lines[:20] if isinstance(line.value, dict)]
    return any(line.get("page") in get_args(_Kind) and ("goal" in line or "url" in line) for line in lines)


def read_webshop(reading: Reading) -> None:
    """Read the sessions of a file; one without its end, or with too small a reward, is left out."""
    sessions: list[list[tuple[str, _Visit | None]]] = [[]]
    for line in reading.document.lines:
        visit = None
        with reading.entry(line.position):
            if line.fault:
                raise FaultyError(line.fault)
            visit = _visit(line.value, line.position)
        last = next((earlier for _, earlier in reversed(sessions[-1]) if earlier), None)
        if visit and last and (last.page == "done" or visit.trial != last.trial):
            sessions.append([])
        sessions[-1].append((line.position, visit))
    for number, session in enumerate(sessions):
        visits = [(position, visit) for position, visit in session if visit]
        if visits:
            position = f"lines {visits[0][0][5:]} to {visits[-1][0][5:]}"
            with reading.entry(position):
                if faulty := [line for line, visit in session if not visit]:
                    raise LeftOutError(f"{faulty[0]} is faulty, and an exemplar must be complete")
                _add(reading, position, number, visits)


def _visit(value: object, position: str) -> _Visit:
    visit = parsed(_Visit, value, position)
    if visit.page == "done" and visit.reward is None:
        raise MisplacedError(position, "reward", "the last page of a session needs its reward")
    if visit.page in ("item_page", "item_sub_page", "done") and not visit.content.asin:
        raise MisplacedError(position, "content.asin", "it is missing")
    return visit


def _add(reading: Reading, position: str, number: int, visits: list[tuple[str, _Visit]]) -> None:
    first, last = visits[0][1], visits[-1][1]
    if last.page != "done":
        raise LeftOutError("the session does not end with a purchase")
    reading.judge(last.reward or 0.0)
    steps: list[ExemplarStep] = []
    remarks: list[str] = []
    for (_, before), (line, after) in pairwise(visits):
        actions = _between(before, after)
        if actions is None:
            if not after.url:
                raise FaultyError(f"{line}: nothing on the page before leads there, and it has no url")
            actions = (Goto(url=after.url),)
            remarks.append(f"{line}: no button of the page before leads there; its address is opened instead")
        elif not actions:
            reading.leave_out(line, "it repeats the page before it")
            continue
        elif (before.page, after.page) == (
            "search_results",
            "item_page",
        ) and after.content.asin not in before.content.search_result_asins:
            remarks.append(f"{line}: the results in the session do not contain {after.content.asin}")
        steps.append(ExemplarStep(observation=before.observation, actions=tuple(map(str, actions))))
    if not steps:
        raise LeftOutError("nothing was done in it")
    values = {
        "id": id_of("webshop", reading.name, *([number] if number else [])),
        "family": "webshop",
        "task": first.task,
        "steps": steps,
        "source": f"WebShop session {first.trial[0] or reading.name}, reward {last.reward:g}",
        "tags": ("webshop",),
    }
    reading.add(position, values, remarks)


def _between(before: _Visit, after: _Visit) -> tuple[Action, ...] | None:
    """Return what leads from a page to the next; nothing for the same page again, None if no button does."""
    same_item = before.content.asin == after.content.asin
    had, has = before.content.options, after.content.options
    match before.page, after.page:
        case "index", "index":
            return ()
        case _, "index":
            return _click("button", "Back to Search")
        case "index", "search_results":
            return (Type(target=_SEARCH, text=after.search[0]), *_click("button", "Search"))
        case "search_results", "search_results" if before.search[0] == after.search[0]:
            by = after.search[1] - before.search[1]
            clicks = {0: (), 1: _click("button", "Next >"), -1: _click("button", "< Prev")}
            return clicks.get(by)
        case "search_results", "item_page" if not has:
            return _click("link", after.content.asin)
        case "item_page", "item_page" if same_item and had.keys() <= has.keys():
            changed = (str(value) for name, value in has.items() if had.get(name) != value)
            return tuple(action for value in changed for action in _click("radio", value))
        case "item_page", "item_sub_page" if same_item and after.part:
            return _click("button", after.part)
        case "item_sub_page", "item_sub_page" if before.url == after.url:
            return ()
        case "item_sub_page", "item_page" if same_item:
            return _click("button", "< Prev")
        case "item_page", "search_results" if before.search == after.search:
            return _click("button", "< Prev")
        case "item_page", "done" if same_item:
            return _click("button", "Buy Now")
    return None


def _click(role: str, name: str) -> tuple[Action, ...]:
    return (Click(target=RoleTarget(role=role, name=name)),)


def _quoted(text: str) -> str:
    return json.dumps(" ".join(text.split()), ensure_ascii=False)
