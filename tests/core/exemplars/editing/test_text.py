"""An exemplar as TOML: nothing is lost on the way to text and back, and problems have their place in the text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.exemplars.checks import check_draft
from core.exemplars.editing.reading import read
from core.exemplars.editing.toml_text import NEW_TEXT, text_of
from core.schema.exemplar import AbstractionPair, Draft, DraftContrast, DraftStep, KeptPrompt
from core.settings.toml_layout import TextLayout
from tests.core.exemplars.making import ALL

PIECES = (
    "'",
    '"',
    "'''",
    '"""',
    "\\",
    "\\n",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "\x00",
    "\x7f",
    "\x85",
    "\xa0",
    "\u2028",
    "\u2029",
)
MORE = ("\ufeff", "\ufdd0", "\ufffc", "😀", "# x", "[[steps]]", '[1] button "Go"', " ", "a", "=")
TEXT = st.lists(st.sampled_from((*PIECES, *MORE)) | st.text(max_size=4), max_size=6).map("".join)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
DRAFT = st.builds(
    Draft,
    id=TEXT,
    family=TEXT,
    task=TEXT,
    environment=TEXT,
    metadata=TEXT,
    steps=st.lists(
        st.builds(DraftStep, observation=TEXT, raw=TEXT, thought=TEXT, actions=TEXTS), max_size=3
    ).map(tuple),
    abstraction=st.lists(st.builds(AbstractionPair, state=TEXT, observation=TEXT), max_size=2).map(tuple),
    parser=TEXT,
    prompts=st.lists(st.builds(KeptPrompt, name=TEXT.filter(bool), texts=TEXTS), max_size=2).map(tuple),
    contrasts=st.lists(
        st.builds(DraftContrast, observation=TEXT, tried=TEXT, right=TEXT, why=TEXT, names=TEXTS), max_size=2
    ).map(tuple),
    source=TEXT,
    tags=TEXTS,
    note=TEXT,
)  # fmt: skip


@given(DRAFT)
@example(Draft(steps=(DraftStep(observation="'''", actions=("'",)),)))
@example(Draft(parser="def parse(html):\r\n    return '''x'''\n"))
def test_a_draft_comes_back_from_its_text_as_it_was(draft: Draft):
    text = text_of(draft)
    assert read(text, lambda _: ()).draft == draft
    assert not set(text) & set("\r\x00\x85\u2028\u2029\ufdd0\ufffc"), "a text editor would change these"


@given(DRAFT)
def test_each_value_and_each_table_is_found_in_the_text(draft: Draft):
    places = TextLayout(text_of(draft))
    tables = [*draft.steps, *draft.contrasts, *draft.abstraction, *draft.prompts]
    assert len(places.blocks) == len(tables)
    for block in places.blocks:
        assert places.text[block.start : block.end].startswith(f"[[{block.kind}]]")
    for number, step in enumerate(draft.steps):
        for at in range(len(step.actions)):
            span = places.values["steps", number, "actions", at]
            assert read(f"task = {places.text[span.start : span.end]}", lambda _: ()).draft == Draft(
                task=step.actions[at]
            )


@given(st.lists(st.sampled_from([*PIECES, *MORE, "[", "]", "{", "}", ",", "[[", "steps", "."])).map("".join))
def test_any_text_can_be_laid_out_and_read(text: str):
    places = TextLayout(text)
    assert all(0 <= span.start < span.end <= len(text) for span in places.values.values())
    reading = read(text, check_draft)
    assert reading.draft is not None or reading.stopping
    lines = text.split("\n")
    assert all(1 <= one.line <= len(lines) for one in reading.problems)


@given(st.text(" ab\"'\\\n\r\t\xa0", min_size=1, max_size=9), st.integers(1990, 2010))
def test_a_very_long_line_is_written_as_several_that_say_the_same(piece: str, length: int):
    long = (piece * length)[:length] + "x" * 2001
    draft = Draft(task=long, steps=(DraftStep(observation=long, actions=(long,)),))
    text = text_of(draft)
    assert read(text, lambda _: ()).draft == draft
    assert max(map(len, text.split("\n"))) < 8000


def test_half_a_surrogate_pair_is_replaced():
    assert read(text_of(Draft(task="a\ud83d")), lambda _: ()).draft == Draft(task="a\ufffd")


def test_what_is_empty_is_left_out_and_a_short_text_stays_in_one_line():
    assert text_of(Draft.of(ALL[0])) == (
        'id = "click-button-0"\nfamily = "click-button"\ntask = "Click on the Ok button."\n\n[[steps]]\n'
        "observation = '''\n[1] button \"click-button\"'''\nactions = [\"click [1]\"]\n"
    )


def problems(text: str) -> list[tuple[int, int, str]]:
    return [(one.line, one.column, one.text) for one in read(text, check_draft).problems]


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("id = 'a'\ntask = ", 2, 1, "not TOML"),
        ("id = 'a'\nid = 'b'", 2, 1, "not TOML"),
        ("id 'a'", 1, 4, "Expected '='"),
        ("[[steps]]\nobservation = '''\n[1] x\nactions = []", 2, 15, "no end. Close it with '''"),
        ("familly = 'x'", 1, 1, "did you mean family?"),
        ("[[steps]]\n[[steps]]\nobservaton = ''", 3, 1, "did you mean observation?"),
        ("id = 'a'\ntask = 3", 2, 1, "must be text in quotes"),
        ("id = 'a'\nreview = 1", 2, 1, "Review it in the library"),
        ("[[abstraction]]\nstate = ''", 1, 1, '"observation" is missing'),
        ("a = " + "[" * 300 + "]" * 300, 1, 1, "nested deeper than"),
        ("#\n" * 2_500_000, 1, 1, "shorten it: the raw texts"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_with_line_and_column(text, line, column, words):
    (problem,) = problems(text)
    assert problem[:2] == (line, column)
    assert words in problem[2]
    assert read(text, check_draft).draft is None


def test_what_is_missing_and_what_is_wrong_is_told_at_its_key_or_item():
    text = (
        NEW_TEXT + "[[steps]]\nobservation = '''\n[[steps]]\n[1] button \"Go\"'''\nactions = [\n"
        "  'click [1]', # Go\n  'jump',\n]\n[[contrasts]]\ntried = 'click [1]'\n"
    )
    found = [(line, column, words.split()[0]) for line, column, words in problems(text)]
    assert found == [
        (1, 1, "An"),
        (2, 1, "Enter"),
        (3, 1, "Enter"),
        (9, 1, "This"),
        (16, 3, "There"),
        (18, 1, "Enter"),
    ]


def test_tables_in_one_line_have_their_places_too():
    text = "steps = [{observation = '[1] link', actions = ['click [1]', 'jump']}]\nid = 'a'\nfamily = 'f'\ntask = 't'"
    ((line, column, words),) = problems(text)
    assert (line, column, "no action" in words) == (1, 61, True)
