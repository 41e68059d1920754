"""Exemplars as the editor shows them."""

from core.debugger.catalogue import PresetOption
from core.debugger.exemplars.editor.views import (
    Checked,
    EditorView,
    OpenedExemplar,
    PageChoice,
    ParserTrial,
)
from core.debugger.exemplars.library.views import ExemplarPrompt
from core.exemplars.checks import check_draft
from core.exemplars.editing.draft_files import KeptDraft
from core.exemplars.editing.reading import read
from core.exemplars.editing.toml_text import text_of
from core.exemplars.library.records import Version
from core.schema.exemplar import AbstractionPair, Draft, DraftContrast, DraftStep
from core.schema.messages import Message

FIRST = """[1] text "Book the cheapest one-way flight from: Oakland to: Oslo."
[2] heading "Book Your One-Way Flight"
[3] textbox "From:" focused
[4] textbox "To:"
[5] text "Departure Date"
[6] textbox readonly (#datepicker .flight-input.hasDatepicker)
[7] button "Search\""""
SECOND = """[2] heading "Book Your One-Way Flight"
[3] textbox "From:" value="Oakland"
[4] textbox "To:"
[8] list (#ui-id-1 .ui-menu)
  [9] listitem "Oakland, CA (OAK)"
[7] button "Search\""""
PARSER = """from bs4 import BeautifulSoup


def parse(html):
    page = BeautifulSoup(html, "lxml")
    return "\\n".join(f'[{one["data-ref"]}] {one.name}' for one in page.select("[data-ref]"))
"""
DRAFT = Draft(
    id="flights/oakland",
    family="book-flight",
    task="Book the cheapest one-way flight from Oakland to Oslo.",
    environment="miniwob",
    steps=(
        DraftStep(
            observation=FIRST,
            raw=f'{FIRST}\n[10] text "An advertisement"',
            thought="The airport must be taken from the list that typing Oakland brings up.",
            actions=("type [3] [Oakland]", "wait [2.0]"),
        ),
        DraftStep(observation=SECOND, thought="That is it.", actions=("click [9]",)),
        DraftStep(observation=SECOND, thought="Now the search.", actions=("click [7]",)),
    ),
    abstraction=(AbstractionPair(state=FIRST, observation='[3] textbox "From:"'),),
    parser=PARSER,
    contrasts=(
        DraftContrast(observation=FIRST, tried="click [7]", right="type [3] [Oakland]", why="Empty fields."),
    ),
    tags=("checked", "short"),
    note="Good for the list of airports.",
)
BROKEN = DRAFT.replace(
    task="",
    steps=(
        DRAFT.steps[0].replace(actions=("type [33] [Oakland]", "jump [3]", "click [7]")),
        DRAFT.steps[1],
        DraftStep(),
    ),
)
MESSAGES = (
    Message(role="user", text=f"Task: {DRAFT.task}\n\nObservation:\n{FIRST}"),
    Message(
        role="assistant", text="REASON: The airport must be taken from the list.\nACTION: type [3] [Oakland]"
    ),
    Message(role="user", text=f"Observation:\n{SECOND}"),
    Message(role="assistant", text="REASON: That is it.\nACTION: click [9]"),
)
VERSIONS = (
    Version(number=1, saved=1_760_000_000.0, why="", tokens=320),
    Version(number=2, saved=1_760_090_000.0, why="changed step 1, thought, step 2, actions", tokens=310),
    Version(number=3, saved=1_760_190_000.0, why="changed task", tokens=305, current=True),
)


TEXT, BROKEN_TEXT = text_of(DRAFT), text_of(BROKEN)


def opened(text: str = TEXT, **more) -> OpenedExemplar:
    values = {
        "serial": 1,
        "key": DRAFT.id,
        "text": text,
        "base": text,
        "id": DRAFT.id,
        "version": 3,
        "saved": 1_760_190_000.0,
        "origin": "branch, run 12, small",
        "run": 12,
    }
    return OpenedExemplar(**(values | more))


def checked(text: str, edit: int) -> Checked:
    reading = read(text, check_draft)
    return Checked(
        edit=edit,
        problems=reading.problems,
        draft=reading.draft,
        tokens=305,
        look_tokens=(120, 110, 100),
        preset="synapse",
        prompt=ExemplarPrompt(messages=MESSAGES, tokens=318),
    )


def view(text: str = TEXT, *, edit: int = 0, **more) -> EditorView:
    values = {
        "opened": opened(text),
        "checked": checked(text, edit),
        "versions": VERSIONS,
        "pages": (
            PageChoice(kind="step", number=1, title="Run 12, step 1: type [3] [Oakland]"),
            PageChoice(kind="pair", number=1, title="Pair 1: its state"),
        ),
        "presets": (
            PresetOption(name="plain", title="Plain"),
            PresetOption(name="synapse", title="Trajectory prompts (Synapse)"),
        ),
        "drafts": (KeptDraft(key="new 1", text="task = 'Half a thought'", when=1_760_190_000.0),),
    }
    return EditorView(**(values | more))


TRIAL = ParserTrial(
    page="Run 12, step 1: type [3] [Oakland]",
    text="[3] input\n[4] input\n[7] button",
    seconds=0.31,
    page_tokens=96,
    tokens=15,
    note="The refs were added to the recorded HTML by tag and text.",
)
FAILED = ParserTrial(
    page="Pair 1: its state", error="KeyError in line 6: 'data-ref'.", seconds=0.2, page_tokens=96
)
