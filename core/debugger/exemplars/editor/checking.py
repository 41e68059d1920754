"""Checks the text of an exemplar: its problems, its prompt, and the result of its program on a page."""

import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from functools import lru_cache

from core.agent.resources import AgentResources
from core.debugger.background_read import ask_file
from core.debugger.exemplars.editor.views import Checked, OpenedExemplar, PageChoice, ParserTrial
from core.debugger.exemplars.prompt import prompt_of
from core.exemplars.checks import check_draft
from core.exemplars.editing.reading import read
from core.exemplars.library.records import Entry, differences
from core.exemplars.problem import Problem
from core.llm.costs import count_tokens
from core.sandbox.running import run_parser
from core.schema.errors import TraceError, UsageError
from core.schema.exemplar import Draft
from core.schema.record import Record
from core.schema.step import Observed, record_of
from core.trace.calls import stored_prompt
from core.trace.store import TraceStore

_tokens = lru_cache(maxsize=512)(count_tokens)
"""Most steps are as they were at the edit before."""
_MOST_PARTS = 4
"""Parts that differ which are named."""
_TAG = re.compile(r"<[a-z][a-z0-9]*[\s>]", re.IGNORECASE)


def checked(
    resources: AgentResources,
    text: str,
    before: Checked,
    edit: int,
    preset: str,
    *,
    opened: OpenedExemplar,
    is_success: bool | None,
    families: Collection[str] = (),
) -> Checked:
    """Return what is found in a text; of one that cannot be read, the prompt stays as it was found `before`.

    `is_success` is the verdict of the run that it came from, `families` are those that exist.
    """

    def check(draft: Draft) -> tuple[Problem, ...]:
        return (
            *_names(draft, opened, families),
            *check_draft(
                draft,
                run=opened.run,
                is_success=lambda _run: is_success,
                policies=resources.policies.callable_names(),
            ),
        )

    reading = read(text, check)
    draft = reading.draft
    if draft is None:
        return before.replace(edit=edit, problems=reading.problems, draft=None)
    prompt = prompt_of(draft, resources, preset)
    looks = tuple(sum(map(_tokens, (step.observation, step.thought, *step.actions))) for step in draft.steps)
    contrasts = sum(
        _tokens(text)
        for contrast in draft.contrasts
        for text in (contrast.observation, contrast.tried, contrast.right, contrast.why)
    )
    return Checked(
        edit=edit,
        problems=reading.problems,
        draft=draft,
        tokens=sum(looks) + contrasts + _tokens(draft.task),
        look_tokens=looks,
        preset=preset,
        prompt=prompt,
    )


def _names(draft: Draft, opened: OpenedExemplar, families: Collection[str]) -> Iterator[Problem]:
    """Yield what a new id leads to, and a family that is probably misspelt."""
    if opened.id and draft.id != opened.id:
        text = f"It is stored as {opened.id}. Under another id it is saved as another exemplar, and {opened.id} stays."
        yield Problem(id=draft.id, kind="missing", at=("id",), text=text, level="note")
    if draft.family and draft.family not in families:
        for near in get_close_matches(draft.family, families, 1, cutoff=0.8):
            text = f"No other exemplar is in the family {draft.family}. Did you mean {near}?"
            yield Problem(id=draft.id, kind="missing", at=("family",), text=text, level="note")


def conflict_with(opened: OpenedExemplar, there: Entry, draft: Draft, *, is_own: bool) -> str:
    """Return why a draft is not saved over what is `there`."""
    id = there.exemplar.id
    if not is_own:
        return f"The library already has an exemplar {id}: “{there.exemplar.task}”"
    named = parts_that_differ(there.exemplar, draft)
    differs = f"It differs from yours in {named}." if named else "It is identical to yours."
    return (
        f"{id} was saved elsewhere since you opened it: it is now at version {there.version}, yours is "
        f"based on version {opened.version}. {differs}"
    )


def parts_that_differ(before: Draft, after: Draft) -> str:
    """Return the names of the first parts that differ; empty if none does."""
    parts = [difference.part for difference in differences(before, after)]
    return ", ".join(parts[:_MOST_PARTS]) + (" and more" if len(parts) > _MOST_PARTS else "")


class _TrialPage(Record):
    html: str
    lines: str
    """What the page shows as an observation."""
    wanted: str = ""
    """What should be left of it, if that is known."""
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
            kind="step",
            number=step.number,
            title=f"Run {run}, step {step.number}: {step.action or 'no action'}",
        )
        for step in steps
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
    """Run the program, confined, on a page; raises UsageError and TraceError if there is no such page."""
    if not draft.parser.strip():
        raise UsageError("There is no program to run. Write parse(html) first.")
    if page.kind == "pair":
        if not 0 < page.number <= len(draft.abstraction):
            raise UsageError("That pair no longer exists; choose another page.")
        pair = draft.abstraction[page.number - 1]
        note = (
            "" if _TAG.search(pair.state) else "Its state is not HTML, so a program finds no elements in it."
        )
        found = _TrialPage(html=pair.state, lines=pair.state, wanted=pair.observation, note=note)
    else:
        if run is None:
            raise UsageError("It does not come from a run; choose a pair.")
        source, number = run, page.number
        found = await ask_file(store, lambda reader: _recorded(reader, source, number))
    parsed = await run_parser(draft.parser, found.html, task=draft.task)
    notes = [found.note] if found.note else []
    if found.wanted and parsed.text:
        same = parsed.text.strip() == found.wanted.strip()
        notes.append(
            "The result equals the pair's observation."
            if same
            else "The result differs from the pair's observation."
        )
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
        raise UsageError(f"Step {number} of run {run} has no observation; choose another one.")
    lines = observed.observation.lines()
    for call in detail.calls:
        if call.purpose != "parser":
            continue
        view = stored_prompt(store, call).view
        if view is not None and view.raw:
            return _TrialPage(html=view.raw, lines=lines)
    if not observed.html:
        raise UsageError(f"The HTML of step {number} of run {run} was not stored; choose another one.")
    from core.debugger.exemplars.editor.marking import marked  # An HTML parser: only when a page is tried.

    page = marked(store.blob(observed.html).decode("utf-8", "replace"), observed.observation)
    missing = page.total - page.found
    note = (
        f"The refs were added to the recorded HTML by tag and text; {missing} of {page.total} elements "
        "were not found and have no data-ref."
        if missing
        else "The refs were added to the recorded HTML by tag and text."
    )
    return _TrialPage(html=page.html, lines=lines, note=note)
