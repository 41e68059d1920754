"""Editing an exemplar at the window: opened, kept, checked, tried, saved and compared, on a real library."""

import asyncio
from functools import partial
from types import SimpleNamespace

import pytest

from core.agent.resources import agent_resources_of
from core.debugger.exemplars.changes import ExemplarChanges
from core.debugger.exemplars.editor.service import EditorService
from core.debugger.exemplars.editor.views import EditorView, PageChoice
from core.exemplars.editing.draft_files import Drafts
from core.exemplars.editing.reading import read
from core.exemplars.editing.toml_text import text_of
from core.exemplars.library.records import Provenance
from core.schema.exemplar import AbstractionPair, DraftStep
from core.schema.signal import Signal
from core.trace.store import TraceStore
from tests.core.exemplars.making import ALL
from tests.core.trace.making import write_run

BUNDLED = "miniwob/book-flight/0"
ONE = ALL[0]
PARSER = "def parse(html):\n    return 'short'\n"


class Asked:
    """A service whose work is done at once, with its last view."""

    def __init__(self, folder):
        self.store = TraceStore.open(folder / "traces.db", busy_seconds=0)
        self.resources = agent_resources_of(data=folder)
        self.library = self.resources.memory.library()
        settings = SimpleNamespace(database=folder / "traces.db", preset="synapse")
        services = SimpleNamespace(resources=self.resources, store=self.store, settings=settings)
        session = SimpleNamespace(
            services=lambda: services, queue=self._do, store=self.store, closers=[], worked=Signal()
        )
        self.changes = ExemplarChanges(session)
        self.made = []
        self.changes.changed.connect(self.made.append)
        self.service = EditorService(session, self.changes)
        self.drafts = Drafts(folder / "drafts")
        self.view = EditorView()
        self.service.changed.connect(lambda view: setattr(self, "view", view))
        for name in ("compared", "conflicted", "replaced"):
            getattr(self.service, name).connect(partial(setattr, self, name))

    def _do(self, work):
        async def whole():
            await work
            others = asyncio.all_tasks() - {asyncio.current_task()}
            if others:
                await asyncio.wait(others)

        asyncio.run(whole())

    def check(self, text, edit=1, preset=""):
        self.service.check(text, self.view.opened.serial, edit, preset)

    def save(self, text, way="save"):
        self.service.save(text, self.view.opened.serial, way)

    def text(self, **changes):
        return text_of(said(self.view.opened.text).replace(**changes))


def said(text):
    return read(text, lambda _: ()).draft


@pytest.fixture
def asked(tmp_path):
    asked = Asked(tmp_path)
    yield asked
    asked.resources.memory.close()
    asked.store.close()


def test_an_exemplar_is_opened_with_its_versions_as_text(asked):
    asked.library.save(ONE, Provenance(origin="agent run", llm="small"))
    asked.service.open(ONE.id)
    opened = asked.view.opened
    assert (opened.id, opened.version, opened.text, opened.origin) == (
        ONE.id,
        1,
        opened.base,
        "agent run, small",
    )
    assert [one.number for one in asked.view.versions] == [1]
    assert "synapse" in [one.name for one in asked.view.presets]


def test_one_of_a_file_opens_as_a_copy_under_a_free_id(asked):
    asked.service.open(BUNDLED)
    opened = asked.view.opened
    assert (opened.id, said(opened.text).id, opened.base) == ("", f"{BUNDLED}-copy", None)
    assert "read-only" in opened.note
    asked.save(opened.text)
    asked.service.open_copy(f"{BUNDLED}-copy")
    assert said(asked.view.opened.text).id == f"{BUNDLED}-copy-2"


def test_an_id_that_is_nowhere_is_said(asked):
    asked.service.open("nowhere/7")
    assert "no exemplar nowhere/7" in asked.view.problem


def test_a_text_is_checked_and_shown_as_the_agent_shows_it(asked):
    asked.library.save(ONE)
    asked.service.open_new()
    text = asked.text(task="Go on.", family="click-buton")
    asked.check(text, 4)
    checked = asked.view.checked
    assert (checked.edit, checked.preset) == (4, "synapse")
    assert [(one.line, one.level) for one in checked.problems] == [(1, "stops"), (2, "note"), (8, "stops")]
    assert "Did you mean click-button?" in checked.problems[1].text
    step = DraftStep(observation='[1] link "x"', raw="hidden", actions=("click [1]",))
    asked.check(asked.text(task="Go on.", steps=(step,)), 5, "synapse")
    told = "\n".join(one.text for one in asked.view.checked.prompt.messages)
    for words in ("Go on.", '[1] link "x"', "click [1]"):
        assert words in told
    assert "hidden" not in told
    assert asked.view.checked.prompt.tokens > 0
    asked.check(text, 6, "plain")
    assert [one.role for one in asked.view.checked.prompt.messages] == ["system"]
    assert "no [memory]" in asked.view.checked.prompt.note
    asked.check(text, 7, "nosuch")
    assert "nosuch" in asked.view.checked.prompt.note


def test_the_prompt_of_the_last_text_that_could_be_read_stays_while_one_cannot(asked):
    asked.library.save(ONE)
    asked.service.open(ONE.id)
    asked.check(asked.view.opened.text, 1)
    before = asked.view.checked
    asked.check(asked.view.opened.text + "task", 2)
    checked = asked.view.checked
    assert (checked.edit, checked.draft, checked.prompt) == (2, None, before.prompt)
    assert [one.line for one in checked.problems] == [asked.view.opened.text.count("\n") + 1]


def test_another_id_is_said_to_make_another_exemplar_and_does(asked):
    asked.library.save(ONE)
    asked.service.open(ONE.id)
    text = asked.text(id="other")
    asked.check(text)
    assert f"{ONE.id} stays" in asked.view.checked.problems[0].text
    asked.save(text)
    assert (asked.view.opened.id, asked.view.opened.version) == ("other", 1)
    assert asked.library.get(ONE.id).version == 1


def test_what_is_typed_is_kept_on_the_disk_and_opened_again_after_a_crash(asked, tmp_path):
    asked.library.save(ONE)
    asked.service.open(ONE.id)
    asked.check(asked.text(task=""), 1)
    again = Asked(tmp_path)
    again.service.open(ONE.id)
    assert (said(again.view.opened.text).task, said(again.view.opened.base).task) == ("", ONE.task)
    assert "This is a draft from" in again.view.opened.note
    again.check(again.view.opened.base, 2)
    assert again.drafts.all() == ()
    again.resources.memory.close()
    again.store.close()


def test_a_new_one_that_was_kept_is_listed_and_taken_up(asked):
    asked.service.open_new()
    asked.check(asked.text(task="Half a thought"), 1)
    asked.service.leave(keep=True)
    asked.service.open_new()
    (kept,) = asked.view.drafts
    assert kept.title == "Half a thought"
    asked.service.take_up(kept.key)
    assert (said(asked.view.opened.text).task, asked.view.drafts) == ("Half a thought", ())
    asked.service.leave(keep=False)
    assert asked.drafts.all() == ()


def test_a_draft_that_was_damaged_on_the_disk_is_passed_over(asked):
    asked.service.open_new()
    asked.check(asked.text(task="x"), 1)
    (path,) = asked.drafts.folder.glob("*.json")
    path.write_text("{")
    asked.service.open_new()
    assert asked.view.drafts == ()


def test_a_saved_draft_is_a_new_version_and_is_no_draft_any_more(asked):
    asked.library.save(ONE)
    asked.service.open(ONE.id)
    draft = asked.text(note="better")
    asked.check(draft, 1)
    asked.save(draft)
    assert (asked.view.opened.version, asked.view.opened.base) == (2, draft)
    assert asked.view.checked.tokens == asked.view.versions[1].tokens
    assert [one.why for one in asked.view.versions] == ["", "changed note"]
    assert asked.library.get(ONE.id).exemplar.note == "better"
    assert asked.drafts.all() == ()


def test_somebody_elses_version_is_not_written_over_unless_asked(asked):
    asked.library.save(ONE)
    asked.service.open(ONE.id)
    asked.library.save(ONE.replace(task="Another."))
    mine = asked.text(note="mine")
    asked.save(mine)
    assert "at version 2" in asked.conflicted
    assert "task, note" in asked.conflicted
    asked.save(mine, "copy")
    assert asked.view.opened.id == f"{ONE.id}-copy"
    assert asked.view.opened.base == mine.replace(ONE.id, f"{ONE.id}-copy")
    asked.service.open(ONE.id)
    asked.library.save(ONE.replace(task="A third."))
    asked.save(mine)
    asked.save(mine, "over")
    assert (asked.view.opened.version, asked.library.get(ONE.id).exemplar.note) == (4, "mine")


def test_a_new_one_does_not_take_the_id_of_another(asked):
    asked.library.save(ONE)
    asked.service.open_new()
    asked.save(asked.text(id=ONE.id, family="f", task="t", steps=ONE.steps))
    assert "has an exemplar" in asked.conflicted


def test_versions_are_compared_with_each_other_and_the_draft_and_taken_up(asked):
    asked.library.save(ONE)
    asked.library.save(ONE.replace(task="Later."))
    asked.service.open(ONE.id)
    asked.service.compare(1, 2, "")
    assert [one.part for one in asked.compared.differences] == ["task"]
    asked.service.compare(2, None, asked.text(note="x") + "# A comment says nothing.")
    compared = asked.compared
    assert (compared.right, [one.part for one in compared.differences]) == (None, ["note"])
    asked.service.compare(2, None, "task = ")
    assert "cannot be compared. Line 1" in asked.view.problem
    asked.service.take_version(1)
    new = asked.replaced
    assert (said(new.text).task, "version 1" in new.note, asked.view.opened.version) == (ONE.task, True, 2)
    asked.save(new.text)
    assert (asked.view.opened.version, asked.library.get(ONE.id).exemplar.task) == (3, ONE.task)


def test_the_program_is_run_on_a_pair_and_what_it_left_is_counted(asked):
    asked.service.open_new()
    pair = AbstractionPair(state="<p>one two three four five six</p>", observation="short")
    draft = asked.text(parser=PARSER, abstraction=(pair,))
    asked.check(draft, 1)
    (page,) = asked.view.pages
    asked.service.test(draft, page)
    trial = asked.view.trial
    assert (trial.text, trial.error, trial.note) == ("short", "", "The result equals the pair's observation.")
    assert 0 < trial.tokens < trial.page_tokens
    asked.service.test(asked.text(parser="def parse(html):\n    return 1/0", abstraction=(pair,)), page)
    assert "division" in asked.view.trial.error
    asked.service.test(asked.text(abstraction=(pair,)), page)
    assert "no program" in asked.view.trial.error


def test_the_pages_of_the_source_run_are_offered_and_one_without_html_says_so(asked):
    run = write_run(asked.store, steps=2)
    asked.library.save(ONE, Provenance(origin="agent run", run=run))
    asked.service.open(ONE.id)
    asked.check(asked.text())
    assert [(one.kind, one.number) for one in asked.view.pages] == [("step", 1), ("step", 2)]
    assert "another task" in asked.view.pages_note
    asked.service.test(asked.text(parser=PARSER), asked.view.pages[0])
    assert asked.view.trial.text == "short" or "not HTML" in asked.view.trial.error
    asked.library.save(ALL[1], Provenance(origin="agent run", run=999))
    asked.service.open(ALL[1].id)
    asked.check(asked.text())
    assert (asked.view.pages, "not in this trace" in asked.view.pages_note) == ((), True)
    asked.service.test(asked.text(parser=PARSER), PageChoice(kind="step", number=1, title="x"))
    assert "999" in asked.view.trial.error


def test_what_belongs_to_another_than_the_one_that_is_open_is_not_taken_for_it(asked):
    asked.library.save(ONE)
    asked.service.open_new()
    late = asked.view.opened
    asked.service.open(ONE.id)
    asked.service.check("task = 'x'", late.serial, 1, "")
    asked.service.save(text_of(ALL[1]), late.serial, "save")
    assert asked.drafts.all() == ()


def test_a_draft_with_errors_is_kept_and_one_from_before_texts_is_read(asked):
    asked.library.save(ONE)
    asked.service.open(ONE.id)
    asked.check("task = 'Half a thought")
    asked.service.leave(keep=True)
    asked.service.open_new()
    assert [one.title for one in asked.view.drafts] == ["Half a thought"]
    asked.service.take_up(ONE.id)
    assert asked.view.opened.text == "task = 'Half a thought"
    (path,) = asked.drafts.folder.glob("*.json")
    path.write_text('{"key": "click-button-0", "draft": {"task": "Old.", "steps": [{"thought": "So."}]}}')
    asked.service.open(ONE.id)
    draft = said(asked.view.opened.text)
    assert (draft.task, draft.steps[0].thought) == ("Old.", "So.")


def test_a_draft_that_cannot_be_kept_is_said_and_a_failure_to_save_stays_said(asked):
    asked.service.open_new()
    asked.drafts.folder.write_text("in the way")
    asked.check(asked.text(task="x"))
    assert "cannot be saved" in asked.view.problem
    asked.drafts.folder.unlink()
    asked.check(asked.text(task="xy"))
    assert asked.view.problem == ""
    asked.save(asked.text())
    asked.check(asked.text(task="xyz"))
    assert "cannot be saved yet" in asked.view.problem


def test_a_program_that_does_not_end_is_killed_when_it_is_cancelled(asked):
    asked.service.open_new()
    pair = AbstractionPair(state="<p>x</p>", observation="x")
    draft = asked.text(parser="def parse(html):\n    while True: pass", abstraction=(pair,))
    commands = []
    asked.service.session.queue = commands.append
    begun = asyncio.Event()
    asked.service.changed.connect(lambda view: begun.set() if view.trial is not None else None)

    async def tried():
        asked.service.test(draft, PageChoice(kind="pair", number=1, title="Pair 1"))
        await commands.pop()
        await begun.wait()
        asked.service.cancel_test()
        await commands.pop()

    asyncio.run(tried())
    assert asked.view.trial.error == "The run was cancelled."
