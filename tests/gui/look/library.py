"""Draws the library."""

import tempfile
from pathlib import Path

from PySide6.QtWidgets import QWidget

from core.debugger.evaluations.records import Subject, WorthResult
from core.debugger.exemplars.library.views import LibraryJob, Notice, Query
from core.debugger.exemplars.trying.views import ReplayResult
from core.exemplars.analysis.records import MemberFound
from core.exemplars.library.records import NEW, Filter, Retrieval
from core.exemplars.library.store import Library
from core.schema.exemplar import Contrast, ExemplarReview
from core.trace.records import RunEnd
from gui.exemplars.library.controller import LibraryController
from gui.exemplars.library.library_window import LibraryWindow
from gui.shell.undo import Reversible
from tests.core.debugger.exemplars.opened_library import OpenedLibrary
from tests.core.exemplars.making import ALL
from tests.gui.look.studio import Studio


def _library(studio: Studio, *, own: bool = True) -> OpenedLibrary:
    folder = Path(tempfile.mkdtemp())
    library = OpenedLibrary(folder)
    studio.kept = [library]
    if own:
        origins = ("agent run", "branch", "demonstration", "import", "by hand")
        for number, one in enumerate(ALL):
            tags = ("checked", "long")[: number % 3]
            library.put(
                one.replace(tags=tags, note="Kept after the price was read wrong."),
                origin=origins[number % 5],
                run=12 + number,
                step=4,
                llm="gpt-4o",
                site="shop.example",
            )
        changed = ALL[0].replace(
            task="Click on the Ok button, and wait.",
            contrasts=(Contrast(tried="click [9]", right="click [1]", why="9 is the advertisement."),),
        )
        database = Library.open(folder / "exemplars.db")
        database.save(changed, why="say that it waits")
        trace = str(library.store.path.absolute())
        found = [
            Retrieval(
                id=ALL[0].id,
                trace=trace,
                run=run,
                step=1,
                when=1.7e9 + run,
                distance=0.3,
                voted=True,
                used=run % 3 > 0,
            )
            for run in range(1, 9)
        ]
        database.log(trace, 40, found)
        database.settle(trace, [RunEnd(run, "ended", run % 2 == 0, measured=run > 6) for run in range(1, 9)])
        _prove(database, trace)
        database.close()
    return library


def _prove(database: Library, trace: str) -> None:
    for number, one in enumerate(ALL[:4]):
        replayed = ReplayResult(id=one.id, task="miniwob/x", seed=3, success=number != 1, looks=2, when=1.7e9)
        database.proofs.save("replay", one.id, replayed.when, replayed.model_dump_json())
    for one, ups, low, high in ((ALL[0], 6, 0.2, 0.8), (ALL[1], 0, -0.9, -0.1), (ALL[2], 3, -0.3, 0.3)):
        worth = WorthResult(
            subject=Subject(name=one.id), trace=trace, evaluation=1, when=1.71e9, preset="synapse", llm="rules",
            name=f"worth of {one.id}", cases=10, judged=10, used=9, to_success=ups, to_failure=6 - ups, low=low,
            high=high,
        )  # fmt: skip
        database.proofs.save("worth", one.id, worth.when, worth.model_dump_json())
    near = [
        MemberFound(
            number=n, id=one.id, family=one.family, found=ALL[1].family, distance=n / 9, nearest=ALL[1].id
        )
        for n, one in enumerate(ALL)
    ]
    database.proofs.save_all("neighbour", [(one.id, one.model_dump_json()) for one in near])


def _open(studio: Studio, library: OpenedLibrary, id: str = "") -> LibraryWindow:
    controller = LibraryController(studio.window, library.service, library.imports)
    controller.open(id)
    assert controller.shown is not None
    studio.kept.append(controller)  # type: ignore[attr-defined]
    studio.settle()
    studio.settle()
    return controller.shown


def library(studio: Studio) -> QWidget:
    shown = _open(studio, _library(studio), ALL[0].id)
    words = "retire “enter-text-1”"
    studio.window.exemplar_history.record(Reversible(words, lambda done: done(""), lambda done: done("")))
    shown.notices.show_notice(Notice(text="“enter-text-1” was retired.", change=words))
    return shown


def library_trajectory(studio: Studio) -> QWidget:
    shown = _open(studio, _library(studio), "miniwob/email-inbox/0")
    shown.page.detail.tabs.setCurrentIndex(1)
    return shown


def library_prompt(studio: Studio) -> QWidget:
    shown = _open(studio, _library(studio), ALL[0].id)
    shown.page.detail.tabs.setCurrentIndex(2)
    return shown


def library_versions(studio: Studio) -> QWidget:
    shown = _open(studio, _library(studio), ALL[0].id)
    shown.page.detail.tabs.setCurrentIndex(3)
    studio.settle()
    shown.page.detail.versions.table.selectAll()
    return shown


def library_retrieved(studio: Studio) -> QWidget:
    shown = _open(studio, _library(studio), ALL[0].id)
    shown.page.detail.tabs.setCurrentIndex(4)
    return shown


def library_proofs(studio: Studio) -> QWidget:
    shown = _open(studio, _library(studio), ALL[0].id)
    shown.page.detail.tabs.setCurrentIndex(5)
    return shown


def library_columns(studio: Studio) -> QWidget:
    """All columns, in a window wide enough for them."""
    shown = _open(studio, _library(studio), ALL[0].id)
    shown.resize(2600, 700)
    shown.page.split.setSizes([2300, 300])
    for at in range(1, shown.page.table.rows_model.columnCount()):
        shown.page.table.setColumnHidden(at, False)
    studio.settle()
    return shown


def library_checked(studio: Studio) -> QWidget:
    shown = _open(studio, _library(studio))
    shown.page.check_requested.emit(shown.page.all_found)
    for _ in range(8):
        studio.settle()
    shown.notices.work.show_job(LibraryJob(busy=True, doing="Rebuilding the index", done=41, of=126))
    return shown


def library_meaning(studio: Studio) -> QWidget:
    shown = _open(studio, _library(studio))
    shown.page.filters.search.setText("forward a mail to somebody")
    shown.page.filters.meaning.setChecked(True)
    for _ in range(6):
        studio.settle()
    return shown


def library_nothing_found(studio: Studio) -> QWidget:
    library = _library(studio)
    studio.window.remembered.library_query = Query(
        filter=Filter(words="flight", origin="bundled", tags=("checked",))
    )
    return _open(studio, library)


def library_values(studio: Studio) -> QWidget:
    shown = _open(studio, _library(studio))
    picker = shown.page.filters.pickers["family"]
    picker.menu().popup(picker.mapToGlobal(picker.rect().bottomLeft()))
    studio.settle()
    return picker.menu()


def library_queue(studio: Studio) -> QWidget:
    library = _library(studio)
    long = "Find the cheapest pair of shoes in size 44 that is in stock and can be here by Friday, " * 3
    wrong = ALL[-1].steps[0].replace(actions=("type [1] [the words of the task]",))
    for one in ALL:
        steps = (wrong,) if one is ALL[-1] else one.steps
        new = one.replace(id=f"{one.id}-imported", task=f"{one.task} {long}", steps=steps)
        library.put(new.replace(review=ExemplarReview(status="new")), origin="import")
    studio.window.remembered.library_query = Query(filter=NEW)
    shown = _open(studio, library)
    shown.page.review_requested.emit(shown.page.table.chosen, "reviewed", False)
    for _ in range(4):
        studio.settle()
    return shown


def library_tags(studio: Studio) -> QWidget:
    shown = _open(studio, _library(studio), ALL[0].id)
    shown.page.table.selectAll()
    shown.page.ask_tags()
    studio.settle()
    assert shown.page.tag_dialog is not None
    return shown.page.tag_dialog


def library_embedding(studio: Studio) -> QWidget:
    shown = _open(studio, _library(studio), ALL[0].id)
    shown.page.ask_embedding()
    studio.settle()
    assert shown.page.index_dialog is not None
    shown.page.index_dialog.embedding.setEditText("onnx:/home/someone/models/all-MiniLM-L6-v2")
    return shown.page.index_dialog


def library_import(studio: Studio) -> QWidget:
    library = _library(studio)
    shown = _open(studio, library)
    path = library.folder / "brought.jsonl"
    lines = [one.replace(id=f"new/{one.id}").model_dump_json() for one in ALL[:3]]
    lines.append(ALL[1].replace(task="Another task.").model_dump_json())
    lines.append('{"id": "x"}')
    path.write_text("\n".join(lines), encoding="utf-8")
    shown.page.import_requested.emit()
    studio.settle()
    dialog = studio.kept[-1].importing  # type: ignore[attr-defined]
    dialog.choose(str(path))
    studio.settle()
    return dialog


def library_export(studio: Studio) -> QWidget:
    shown = _open(studio, _library(studio))
    shown.page.export()
    assert shown.page.export_dialog is not None
    return shown.page.export_dialog
