"""What is found in a draft: faults, how a prompt shows it, and what its program makes of a page."""

import re
from functools import lru_cache

from bs4 import BeautifulSoup, Tag

from core.agent.resources import AgentResources
from core.debugger.background_read import ask_file
from core.debugger.exemplars.editor.views import Checked, Conflict, OpenedExemplar, PageChoice, ParserTrial
from core.debugger.exemplars.prompt import prompt_of
from core.llm.costs import count_tokens
from core.memory.editing.faults import faults
from core.memory.library.records import Entry, differences
from core.sandbox.running import run_parser
from core.schema.errors import TraceError, UsageError
from core.schema.exemplar import Draft
from core.schema.observation import Element, Observation
from core.schema.record import Record
from core.schema.step import Observed, record_of
from core.trace.store import TraceStore

_tokens = lru_cache(maxsize=512)(count_tokens)
"""Most steps are as they were at the edit before."""
_MOST_PARTS = 4
"""Parts that differ which a conflict names."""
_TAG = re.compile(r"<[a-z][a-z0-9]*[\s>]", re.IGNORECASE)


def checked(
    resources: AgentResources, draft: Draft, edit: int, preset: str, run: int | None, is_success: bool | None
) -> Checked:
    """Return what is found in a draft; `is_success` is the verdict of the run that it came from."""
    prompt = prompt_of(draft, resources, preset)
    looks = tuple(sum(map(_tokens, (one.observation, one.thought, *one.actions))) for one in draft.steps)
    contrasts = sum(
        _tokens(text) for one in draft.contrasts for text in (one.observation, one.tried, one.right, one.why)
    )
    return Checked(
        edit=edit,
        faults=faults(draft, run=run, is_success=lambda _run: is_success),
        tokens=sum(looks) + contrasts + _tokens(draft.task),
        look_tokens=looks,
        preset=preset,
        messages=prompt.messages,
        prompt_tokens=prompt.tokens,
        prompt_note=prompt.note,
    )


def conflict_with(opened: OpenedExemplar, there: Entry, draft: Draft, *, is_own: bool) -> Conflict:
    """Return why a draft is not saved over what is `there`."""
    id = there.exemplar.id
    if not is_own:
        return Conflict(id=id, text=f"The library has an exemplar {id} already: “{there.exemplar.task}”")
    ours = draft.exemplar()
    parts = [one.part for one in differences(there.exemplar, ours)]
    named = ", ".join(parts[:_MOST_PARTS]) + (" and more" if len(parts) > _MOST_PARTS else "")
    differs = f"It differs from yours in {named}." if parts else "It is the same as yours."
    return Conflict(
        id=id,
        text=f"{id} was saved by somebody else since it was opened: it is at version {there.version}, "
        f"yours was made of {opened.version}. {differs}",
    )


class _TrialPage(Record):
    html: str
    lines: str
    """What the page shows as an observation."""
    wanted: str = ""
    """What should be left of it, where that is known."""
    note: str = ""


def run_pages(store: TraceStore, run: int | None, task: str) -> tuple[tuple[PageChoice, ...], str]:
    """Return the pages of the run that an exemplar came from, and what is to be known of them."""
    if run is None:
        return (), ""
    try:
        row, steps = store.run(run), store.steps(run)
    except TraceError:
        return (), f"Its source, run {run}, is not in this trace."
    pages = tuple(
        PageChoice(
            kind="step", number=one.number, title=f"Run {run}, step {one.number}: {one.action or 'no action'}"
        )
        for one in steps
    )
    same = " ".join(row.instruction.split()) == " ".join(task.split())
    return pages, "" if same else f"Run {run} of this trace has another task: “{row.instruction}”"


def pair_pages(draft: Draft) -> tuple[PageChoice, ...]:
    return tuple(
        PageChoice(kind="pair", number=number, title=f"Pair {number}: its state")
        for number in range(1, len(draft.abstraction) + 1)
    )


async def try_parser(
    store: TraceStore | None, draft: Draft, run: int | None, page: PageChoice
) -> ParserTrial:
    """Run the program, confined, on a page; raises UsageError and TraceError where there is no such page."""
    if not draft.parser.strip():
        raise UsageError("There is no program to run: write parse(html) first.")
    if page.kind == "pair":
        if not 0 < page.number <= len(draft.abstraction):
            raise UsageError("That pair is not there any more; choose another page.")
        pair = draft.abstraction[page.number - 1]
        note = "" if _TAG.search(pair.state) else "Its state is no HTML: a program finds no elements in it."
        found = _TrialPage(html=pair.state, lines=pair.state, wanted=pair.observation, note=note)
    else:
        if run is None:
            raise UsageError("It came from no run; choose a pair.")
        source, number = run, page.number
        found = await ask_file(store, lambda reader: _recorded(reader, source, number))
    parsed = await run_parser(draft.parser, found.html, task=draft.task)
    notes = [found.note] if found.note else []
    if found.wanted and parsed.text:
        same = parsed.text.strip() == found.wanted.strip()
        notes.append("That is the pair's observation." if same else "That is not the pair's observation.")
    return ParserTrial(
        page=page.title,
        text=parsed.text,
        error=parsed.error,
        seconds=parsed.seconds,
        page_tokens=count_tokens(found.lines),
        tokens=count_tokens(parsed.text),
        note=" ".join(notes),
    )


def _recorded(store: TraceStore, run: int, number: int) -> _TrialPage:
    detail = store.step(run, number)
    observed = record_of(Observed, detail.records)
    if observed is None:
        raise UsageError(f"Step {number} of run {run} did not look at the page; choose another one.")
    lines = observed.observation.lines()
    for call in detail.calls:
        if call.purpose != "parser":
            continue
        view = store.prompt(call).view
        if view is not None and view.raw:
            return _TrialPage(html=view.raw, lines=lines)
    if not observed.html:
        raise UsageError(f"Of step {number} of run {run} no HTML was kept; choose another one.")
    page = marked(store.blob(observed.html).decode("utf-8", "replace"), observed.observation)
    missing = page.total - page.found
    note = (
        f"The refs were put back into the recorded HTML by tag and words; {missing} of {page.total} elements "
        "were not found again and carry no data-ref."
        if missing
        else "The refs were put back into the recorded HTML by tag and words."
    )
    return _TrialPage(html=page.html, lines=lines, note=note)


class MarkedPage(Record):
    """HTML in which elements carry their ref as ``data-ref``."""

    html: str
    found: int
    """Elements that were found again."""
    total: int


_NAMED_BY = ("aria-label", "value", "alt", "title", "placeholder")


def marked(html: str, observation: Observation) -> MarkedPage:
    """Find the elements of an observation again in its HTML, by tag and words in document order.

    One that is not found carries no ref; those in frames are looked for as
    well, as the HTML has the frames behind the page.
    """
    page = BeautifulSoup(html, "lxml")
    nodes = [node for node in page.find_all(True) if isinstance(node, Tag)]
    taken: set[int] = set()
    last = -1
    found = 0
    for element in observation.elements:
        if not element.tag:
            continue
        fits = [at for at, node in enumerate(nodes) if at not in taken and node.name == element.tag.lower()]
        named = [at for at in fits if _is_named(nodes[at], element)]
        # Elements come in document order; where one is out of it, only the words can tell.
        at = next((at for at in named if at > last), None)
        if at is None and len(named) == 1:
            at = named[0]
        if at is None:
            continue
        nodes[at]["data-ref"] = str(element.ref)
        taken.add(at)
        last = max(last, at)
        found += 1
    total = sum(1 for one in observation.elements if one.tag)
    return MarkedPage(html=str(page), found=found, total=total)


def _is_named(node: Tag, element: Element) -> bool:
    name = _plain(element.name)
    if not name:
        return not _plain(node.get_text(" ")) or not element.uses
    said = {_plain(str(node.get(attribute, ""))) for attribute in _NAMED_BY}
    return name in said or name == _plain(node.get_text(" ")) or _labelled(node, name)


def _labelled(node: Tag, name: str) -> bool:
    if node.name not in ("input", "select", "textarea"):
        return False
    around = node.find_parent("label")
    if around is not None and _plain(around.get_text(" ")) == name:
        return True
    root = next((one for one in node.parents if one.parent is None), None)
    id = node.get("id")
    label = root.find("label", attrs={"for": id}) if isinstance(root, Tag) and id else None
    return isinstance(label, Tag) and _plain(label.get_text(" ")) == name


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
