"""Runs and records for the tests of the trace."""

import itertools
from collections.abc import Iterator
from pathlib import Path

from core.schema.action import Action, Click, RefTarget
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.messages import LLMRequest, Message, Sampling, Tool
from core.schema.observation import Box, CleanObservation, Element, Observation
from core.schema.step import (
    Abstracted,
    Acted,
    Aligned,
    Anticipated,
    Committed,
    Decided,
    Observed,
    PhaseRecord,
    Proposal,
    Recalled,
    Recognised,
    Reviewed,
)
from core.schema.task import Verdict
from core.trace.blobs import hash_of
from core.trace.database import KIND, TraceDatabase
from core.trace.records import RunOutcome, RunStart
from core.trace.store import TraceStore

PICTURE = bytes(range(256)) * 8
HTML = b"<html><body><button>Save</button></body></html>" * 10


def open_as(path: Path, migrations: tuple[str, ...], *, read_only: bool = False) -> TraceStore:
    """Open a database as a program does that knows these migrations."""
    return TraceStore(TraceDatabase.open(path, KIND._replace(migrations=migrations), read_only=read_only))


def start(instruction: str = "Save the draft", *, task: str = "miniwob/save", seed: int = 3) -> RunStart:
    return RunStart(
        task=task,
        environment=task.partition("/")[0],
        seed=seed,
        instruction=instruction,
        start_url="http://127.0.0.1:1/save.html",
        preset="plain",
        preset_text="title = 'Plain'\n",
        llm="rules",
        browser="embedded",
    )


def page(*names: str, url: str = "http://127.0.0.1:1/save.html") -> Observation:
    """Return an observation of a page with a button of each name, 40 pixels apart."""
    elements = tuple(
        Element(
            ref=ref,
            role="button",
            name=name,
            uses=("click",),
            box=Box(x=10, y=40 * ref, width=120, height=30),
            tag="button",
        )
        for ref, name in enumerate(names, start=1)
    )
    return Observation(url=url, title="Save", elements=elements, viewport=(800, 600))


def records(
    observation: Observation | None = None,
    *,
    thought: str = "The draft is to be saved.",
    action: Action | None = None,
) -> Iterator[PhaseRecord]:
    """Yield what the ten phases of a step leave, in order."""
    seen = observation or page("Save", "Cancel")
    done = action or Click(target=RefTarget(ref=1))
    choices = tuple(Choice(value=str(e.ref), label=e.line()) for e in seen.elements)
    click = PermissibleAction(name="click", parameters=(Parameter(name="target", choices=choices),))
    yield Observed(observation=seen, html=hash_of(HTML), screenshot=hash_of(PICTURE))
    yield Recognised(
        space="general", state="form", why="It has a button.", permissible=Permissible(actions=(click,))
    )
    yield Recalled()
    yield Abstracted(
        clean=CleanObservation(url=seen.url, elements=seen.elements, text=seen.lines()), tokens=9
    )
    yield Decided(proposal=Proposal(action=done, thought=thought))
    yield Anticipated()
    yield Reviewed(origin="agent", action=done, thought=thought)
    yield Acted(
        effect="page action",
        outcome="done",
        target='button "Save"',
        box=Box(x=10, y=40, width=120, height=30),
    )
    yield Aligned()
    yield Committed(seconds=0.5, seconds_in_llm=0.25)


def a_request(text: str) -> LLMRequest:
    return LLMRequest(
        purpose="decide",
        messages=(Message(role="system", text="You work in a page."), Message(role="user", text=text)),
        tools=(Tool(name="click", description="Click an element."),),
        sampling=Sampling(temperature=0.5),
    )


BLOBS = ((HTML, "text/html"), (PICTURE, "image/webp"))


def write_step(store: TraceStore, run: int, number: int, *, until: str = "commit", **options: object) -> None:
    """Begin a step and store its phases up to and with `until`."""
    store.begin_step(run, number)
    for record in records(**options):  # type: ignore[arg-type]
        store.save_phase(run, number, record, blobs=BLOBS if record.phase == "observe" else ())
        if record.phase == until:
            return


def write_run(
    store: TraceStore,
    *,
    steps: int = 2,
    instruction: str = "Save the draft",
    outcome: RunOutcome = "done",
    answer: str = "",
) -> int:
    run = store.begin_run(start(instruction))
    for number in range(1, steps + 1):
        write_step(store, run, number)
    store.end_run(
        run,
        outcome=outcome,
        verdict=Verdict(success=True, reward=1.0, judge="page"),
        answer=answer,
        seconds=2.0,
        seconds_in_llm=1.0,
    )
    return run


def limit_to(store: TraceStore, more_pages: int) -> None:
    """Let the database grow by so many pages only, as a full disk does."""
    (row,) = store._database.rows("PRAGMA page_count")
    store._database.execute(f"PRAGMA max_page_count = {row['page_count'] + more_pages}")


def overwrite(path: Path, *, first: float, last: float) -> None:
    """Overwrite a part of the file, given as fractions of its length."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(int(size * first))
        junk = itertools.cycle(b"\x5a\xa5\x0d\xff\x00\x13")
        file.write(bytes(itertools.islice(junk, int(size * (last - first)))))
