"""Sessions that people had in WebShop: JSON lines, a visited page each.

A session tells pages and not actions: an action is what leads from one page
to the next. Nor does it tell what the pages show besides ids and options, so
an observation holds these, and the buttons that this kind of page always has.
"""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from urllib.parse import unquote, urlsplit

from core.memory.exchange.records import (
    Candidate,
    Document,
    MisplacedError,
    Reading,
    ReadOptions,
    id_of,
    made_exemplar,
    object_of,
    plain,
    text_at,
)
from core.schema.action import Action, Click, Goto, RoleTarget, Type
from core.schema.exemplar import ExemplarStep
from core.schema.record import Record
from core.trace.imports.records import FaultyError, FileEntry

KINDS = ("index", "search_results", "item_page", "item_sub_page", "done")
_PARTS = ("Description", "Features", "Reviews", "Attributes")
_SEARCH = RoleTarget(role="textbox", name="Search...")


class _Page(Record):
    """One line of the file."""

    line: int
    kind: str
    url: str
    task: str
    session: str = ""
    keywords: str = ""
    results: tuple[str, ...] = ()
    number: int = 1
    """Which page of the results."""
    item: str = ""
    part: str = ""
    """Which of the item's parts is open."""
    options: tuple[tuple[str, str], ...] = ()
    reward: float | None = None

    @property
    def observation(self) -> str:
        buttons: list[str] = []
        match self.kind:
            case "index":
                return _lines('textbox "Search..."', 'button "Search"', task=self.task)
            case "search_results":
                back = ['button "< Prev"'] if self.number > 1 else []
                here = f"text {_quoted(f'Page {self.number} of the results for {self.keywords}')}"
                buttons = [here, *back, 'button "Next >"']
                buttons += [f"link {_quoted(asin)}" for asin in self.results]
            case "item_page":
                buttons = ['button "< Prev"', f"text {_quoted(f'Item {self.item}')}"]
                buttons += [
                    f"radio {_quoted(value)} checked ({' '.join(name.split())})"
                    for name, value in self.options
                ]
                buttons += [*(f'button "{part}"' for part in _PARTS), 'button "Buy Now"']
            case "item_sub_page":
                part = self.part or "A part"
                buttons = ['button "< Prev"', f"text {_quoted(f'{part} of item {self.item}')}"]
        return _lines('button "Back to Search"', *buttons, task=self.task)


def is_webshop(document: Document) -> bool:
    first = [one.value for one in document.lines[:20] if isinstance(one.value, dict)]
    return any(one.get("page") in KINDS and ("goal" in one or "url" in one) for one in first)


def read_webshop(document: Document, beside: Document | None, options: ReadOptions) -> Reading:
    """Read the sessions of a file; one without its end, or with too small a reward, is left out."""
    found: list[Candidate] = []
    left_out: list[FileEntry] = []
    faulty: list[FileEntry] = []
    name = document.path.stem
    for number, (pages, faults) in enumerate(_sessions(document)):
        faulty += faults
        if not pages:
            continue
        position = f"lines {pages[0].line} to {pages[-1].line}"
        why = _why_not(pages, options)
        if faults:
            why = (
                f"line {faults[0].position.removeprefix('line ')} is faulty, and an exemplar must be complete"
            )
        if why:
            left_out.append(FileEntry(position=position, why=why))
            continue
        try:
            steps, remarks, idle = _steps(pages)
            found.append(
                Candidate(
                    position=position,
                    exemplar=made_exemplar(
                        id=id_of("webshop", name, *([number] if number else [])),
                        family=options.family or "webshop",
                        task=pages[0].task,
                        steps=steps,
                        source=f"WebShop session {pages[0].session or name}, reward {pages[-1].reward:g}",
                        tags=("webshop",),
                    ),
                    remarks=remarks,
                )
            )
            left_out += idle
        except FaultyError as error:
            faulty.append(FileEntry(position=position, why=str(error)))
    return Reading(candidates=tuple(found), left_out=tuple(left_out), faulty=tuple(faulty))


def _sessions(document: Document) -> Iterator[tuple[list[_Page], list[FileEntry]]]:
    """Yield the pages of each session with the lines of it that cannot be read."""
    pages: list[_Page] = []
    faults: list[FileEntry] = []
    for line in document.lines:
        position = f"line {line.number}"
        try:
            if line.fault:
                raise FaultyError(line.fault)
            page = _page(object_of(line.value, position), line.number)
        except FaultyError as error:
            where = error.position if isinstance(error, MisplacedError) else ""
            inside = "" if where in ("", position) else f"{where}: "
            faults.append(FileEntry(position=position, why=f"{inside}{error}"))
            continue
        if pages and (
            pages[-1].kind == "done" or (page.session, page.task) != (pages[0].session, pages[0].task)
        ):
            yield pages, faults
            pages, faults = [], []
        pages.append(page)
    yield pages, faults


def _page(values: dict[str, Any], line: int) -> _Page:
    kind = text_at(values, "page", "")
    if kind not in KINDS:
        raise MisplacedError("page", f"there is no page type {kind!r}")
    goal = object_of(values.get("goal"), "goal")
    task = text_at(goal, "instruction_text", "goal")
    content = values.get("content")
    content = object_of(content, "content") if content is not None else {}
    url = text_at(values, "url", "", without="")
    parts = _path(url)
    given = content.get("options")
    options = object_of(given, "content.options") if given is not None else {}
    results = content.get("search_result_asins")
    reward = values.get("reward")
    if kind == "done" and (isinstance(reward, bool) or not isinstance(reward, (int, float))):
        raise MisplacedError("reward", "the last page of a session needs its reward")
    page = _Page(
        line=line,
        kind=kind,
        url=url,
        task=task.strip() or "Buy what fits.",
        session=parts[-1] if kind == "index" and parts else parts[1] if len(parts) > 1 else "",
        keywords=_keywords(content.get("keywords")),
        results=tuple(one for one in results if plain(one)) if isinstance(results, list) else (),
        number=_number(content.get("page")),
        item=text_at(content, "asin", "content", without=""),
        part=unquote(parts[5]) if kind == "item_sub_page" and len(parts) > 5 else "",
        options=tuple((str(name), str(value)) for name, value in options.items()),
        reward=reward if isinstance(reward, (int, float)) else None,
    )
    if kind in ("item_page", "item_sub_page", "done") and not page.item:
        raise MisplacedError("content.asin", "it is missing")
    return page


def _path(url: str) -> list[str]:
    try:
        return [part for part in urlsplit(url).path.split("/") if part]
    except ValueError:
        return []


def _keywords(value: object) -> str:
    """Return the words searched for; an item's page has them as Python prints a list."""
    if isinstance(value, str):
        value = [one or two for one, two in re.findall(r"""'([^']*)'|"([^"]*)\"""", value)]
    return " ".join(one for one in value if plain(one)) if isinstance(value, list) else ""


def _number(value: object) -> int:
    text = str(value) if isinstance(value, (int, str)) else ""
    return int(text) if re.fullmatch(r"[0-9]{1,6}", text) else 1


def _why_not(pages: list[_Page], options: ReadOptions) -> str:
    last = pages[-1]
    if last.kind != "done":
        return "the session does not end with a purchase"
    reward = last.reward or 0.0
    if reward < options.least_reward:
        return f"its reward is {reward:.3g}, less than {options.least_reward:g}"
    return "nothing was done in it" if len(pages) < 2 else ""


def _steps(pages: list[_Page]) -> tuple[tuple[ExemplarStep, ...], tuple[str, ...], tuple[FileEntry, ...]]:
    steps: list[ExemplarStep] = []
    remarks: list[str] = []
    idle: list[FileEntry] = []
    for before, after in pairwise(pages):
        actions, remark = _between(before, after)
        if not actions:
            idle.append(FileEntry(position=f"line {after.line}", why="it repeats the page before it"))
            continue
        if remark:
            remarks.append(f"line {after.line}: {remark}")
        texts = tuple(str(one) for one in actions)
        steps.append(ExemplarStep(observation=before.observation, actions=texts))
    if not steps:
        raise FaultyError("nothing was done in it")
    return tuple(steps), tuple(remarks), tuple(idle)


def _between(before: _Page, after: _Page) -> tuple[tuple[Action, ...], str]:
    """Return what leads from a page to the next, and what is to be said of it."""
    back = before.kind == "item_sub_page" or before.kind == "item_page"
    same_search = (before.keywords, before.number) == (after.keywords, after.number)
    match before.kind, after.kind:
        case "index", "index":
            return (), ""
        case _, "index":
            return _click("button", "Back to Search"), ""
        case "index", "search_results":
            typed = Type(target=_SEARCH, text=after.keywords)
            return (typed, *_click("button", "Search")), ""
        case "search_results", "search_results" if before.keywords == after.keywords:
            by = after.number - before.number
            if by == 0:
                return (), ""
            if abs(by) == 1:
                return _click("button", "Next >" if by > 0 else "< Prev"), ""
        case "search_results", "item_page" if not after.options:
            unseen = f"the results in the session do not contain {after.item}"
            return _click("link", after.item), "" if after.item in before.results else unseen
        case "item_page", "item_page" if before.item == after.item:
            had, has = dict(before.options), dict(after.options)
            changed = [value for name, value in after.options if had.get(name) != value]
            if set(had) <= set(has):
                return tuple(one for value in changed for one in _click("radio", value)), ""
        case "item_page", "item_sub_page" if before.item == after.item and after.part:
            return _click("button", after.part), ""
        case "item_sub_page", "item_sub_page" if before.url == after.url:
            return (), ""
        case "item_sub_page", "item_page" if before.item == after.item:
            return _click("button", "< Prev"), ""
        case "item_page", "search_results" if back and same_search:
            return _click("button", "< Prev"), ""
        case "item_page", "done" if before.item == after.item:
            return _click("button", "Buy Now"), ""
    if not after.url:
        raise FaultyError(f"line {after.line}: nothing on the page before leads there, and it has no url")
    return (Goto(url=after.url),), "no button of the page before leads there; its address is opened instead"


def _click(role: str, name: str) -> tuple[Action, ...]:
    return (Click(target=RoleTarget(role=role, name=name)),)


def _lines(*lines: str, task: str) -> str:
    return "\n".join([f"text {_quoted(f'Instruction: {task}')}", *lines])


def _quoted(text: str) -> str:
    return json.dumps(" ".join(text.split()), ensure_ascii=False)
