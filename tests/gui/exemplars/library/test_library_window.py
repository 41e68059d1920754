"""The window of the library on a real library: finding, reading, reviewing, importing and exporting."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QFileDialog

from core.debugger.exemplars.library.views import CheckView, Chosen, Query
from core.exemplars.library.records import Filter
from core.exemplars.library.store import Library
from core.exemplars.problem import Problem
from core.schema.exemplar import ExemplarReview
from gui.exemplars.controller import ChangesController
from gui.exemplars.library.controller import LibraryController
from gui.exemplars.library.detail_pane import DetailPane
from tests.core.debugger.exemplars.opened_library import OpenedLibrary
from tests.core.exemplars.making import ALL, exemplar
from tests.core.llm.small_encoder import encoder_in
from tests.gui.exemplars.stand_ins import PlainWindow
from tests.gui.test_reachable import described, inside, name_of

SECONDS = 20_000


@pytest.fixture
def library(tmp_path):
    library = OpenedLibrary(tmp_path)
    for number, one in enumerate(ALL):
        library.put(one.replace(tags=("good",) if number % 2 else ()), run=4, step=2)
    yield library
    library.close()


class Opened:
    """The window with what it is made of, and ways to wait for it."""

    def __init__(self, qtbot, controller):
        self.qtbot = qtbot
        self.controller = controller
        controller.open()
        self.window = controller.shown
        self.page = self.window.page
        self.wait(lambda: self.page.total)

    def wait(self, condition):
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=SECONDS)

    @property
    def ids(self):
        model = self.page.table.rows_model
        found = (model.row(at) for at in range(model.total))
        return [row.id for row in found if row is not None]

    def look_for(self, words):
        self.page.filters.search.setText(words)
        self.wait(lambda: self.page.query.filter.words == words and self.page._list.query == self.page.query)


@pytest.fixture
def opened(qtbot, library, theme, settings):
    parent = PlainWindow(theme, settings)
    qtbot.addWidget(parent)
    ChangesController(parent, library.changes)
    made = Opened(qtbot, LibraryController(parent, library.service, library.imports))
    yield made
    made.window.close()


def test_words_are_looked_for_as_they_are_typed_and_what_is_not_found_or_hidden_says_so(opened):
    whole = opened.page.total
    opened.look_for("flight Oslo")
    assert opened.ids == ["book-flight-0"]
    opened.wait(lambda: "1 family" in opened.page.filters.words.text())
    assert opened.page.filters.words.text().startswith(f"1 of {whole} exemplars")
    assert opened.page.table.current == "book-flight-0"
    opened.wait(lambda: opened.page.detail.title.text() == ALL[5].task)
    opened.look_for("zeppelin")
    opened.wait(lambda: "without the words “zeppelin”" in opened.page.or_words.words.text())
    opened.page.filters.clear_button.click()
    opened.wait(lambda: len(opened.ids) > len(ALL))
    opened.look_for("flight")
    opened.window.reveal("click-button-1")
    opened.wait(lambda: opened.page.table.current == "click-button-1")
    assert opened.page.filters.search.text() == ""
    opened.window.reveal("nobody-0")
    opened.wait(lambda: opened.window.notices.has_notice)
    assert "nobody-0" in opened.window.notices.text.text()
    opened.page.filters.show_query(Query(filter=Filter(found=("near duplicate",))))
    opened.page._on_query()
    opened.wait(
        lambda: "Nothing was compared yet. Compare all (Ctrl+Shift+A)" in opened.page.or_words.words.text()
    )


def test_filters_offer_values_and_by_meaning_shows_distances(opened):
    filters = opened.page.filters
    opened.wait(lambda: filters.pickers["origin"]._values.get("by hand") == len(ALL))
    filters.pickers["origin"].choose(("by hand",))
    filters.pickers["origin"].picked.emit()
    opened.wait(lambda: len(opened.ids) == len(ALL))
    filters.meaning.setChecked(True)
    filters.search.setText("Book the shortest flight to Paris.")
    opened.wait(lambda: opened.page._list.query.like and opened.page._list.ready)
    assert opened.ids[0] == "book-flight-1"
    table = opened.page.table
    assert not table.isColumnHidden(0)
    assert float(table.rows_model.index(0, 0).data()) < float(table.rows_model.index(1, 0).data())


def test_delete_retires_and_undo_brings_back_and_one_of_a_file_cannot_be_edited(opened, qtbot):
    opened.look_for("Click on the")
    opened.controller.open(ALL[1].id)
    opened.wait(lambda: opened.page.table.current == ALL[1].id)
    qtbot.keyClick(opened.page.table, Qt.Key.Key_Delete)
    opened.wait(lambda: ALL[1].id not in opened.ids and opened.window.notices.has_notice)
    assert f"“{ALL[1].id}” was retired" in opened.window.notices.text.text()
    opened.wait(opened.window.notices.undo_button.isVisible)
    opened.window.notices.undo_button.click()
    opened.wait(lambda: ALL[1].id in opened.ids)
    assert not opened.window.notices.undo_button.isVisible()
    opened.controller.open("miniwob/email-inbox/0")
    opened.wait(lambda: opened.page.table.current == "miniwob/email-inbox/0")
    commands = opened.page.commands.by_id
    actions = {name: command.action for name, command in commands.items()}
    assert not actions["edit"].isEnabled()
    assert "read-only" in actions["edit"].toolTip()
    assert not actions["tags"].isEnabled()
    assert actions["copy"].isEnabled()
    actions["retire"].trigger()
    opened.wait(lambda: "miniwob/email-inbox/0" not in opened.ids)


def test_what_is_new_is_reviewed_one_after_the_other_with_two_keys(opened, library, qtbot):
    commands = opened.page.commands.by_id
    assert not commands["queue"].action.isEnabled()
    for one in ALL[:3]:
        library.put(one.replace(id=f"new/{one.id}", review=ExemplarReview(status="new")))
    opened.wait(lambda: commands["queue"].action.isEnabled() and "3" in commands["queue"].action.text())
    commands["queue"].action.trigger()
    opened.wait(lambda: opened.ids == [f"new/{one.id}" for one in reversed(ALL[:3])])
    table = opened.page.table
    opened.wait(lambda: table.current == f"new/{ALL[2].id}")
    opened.wait(lambda: opened.page.detail.title.text() == ALL[2].task)
    qtbot.keyClick(table, Qt.Key.Key_Space)
    opened.wait(lambda: table.current == f"new/{ALL[1].id}" and len(opened.ids) == 2)
    qtbot.keyClick(table, Qt.Key.Key_Delete)
    opened.wait(lambda: table.current == f"new/{ALL[0].id}" and len(opened.ids) == 1)
    qtbot.keyClick(table, Qt.Key.Key_Space)
    opened.wait(lambda: "Nothing is left to review" in opened.page.or_words.words.text())
    stored = Library.open(library.folder / "exemplars.db", read_only=True)
    ids = [f"new/{one.id}" for one in ALL[:3]]
    assert [one.review.status for one in stored.current(ids)] == ["reviewed", "retired", "reviewed"]
    stored.close()
    opened.window.notices.undo_button.click()
    opened.wait(lambda: opened.ids == [f"new/{ALL[0].id}"])


def test_tags_and_a_family_are_given_to_the_whole_selection(opened, library):
    opened.look_for("Click on the")
    opened.page.table.selectAll()
    opened.page.commands.by_id["tags"].action.trigger()
    dialog = opened.page.tag_dialog
    assert not dialog.change_button.isEnabled()
    dialog.add.setText("checked, by hand")
    dialog.family.setText("press-button")
    dialog.weight.setValue(2)
    dialog.pinned.setCurrentIndex(1)
    dialog.change_button.click()
    row = opened.page.table.rows_model.row
    opened.wait(
        lambda: all(
            row(at) and row(at).family == "press-button" and row(at).tags[-2:] == ("checked", "by hand")
            for at in range(3)
        )
    )
    assert (row(0).weight, row(0).pinned) == (2, True)


def test_what_is_shown_is_what_commands_change_and_a_problem_shows_its_exemplar(opened, qtbot, library):
    opened.page.show_check(
        CheckView(checked=2, of=2, problems=(Problem(id=ALL[2].id, kind="action", text="Wrong."),))
    )
    table = opened.page.check.table
    qtbot.mouseClick(
        table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(table.model().index(0, 0)).center()
    )
    opened.wait(lambda: opened.page.table.current == ALL[2].id)
    opened.look_for("Click on the")
    table = opened.page.table
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    assert table.chosen.ids == (table.current,) == (opened.ids[-1],)
    qtbot.keyClick(table, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    assert table.selected_count == 2
    clicked = table.visualRect(table.rows_model.index(len(opened.ids) - 2, 1)).center()
    qtbot.mouseClick(
        table.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, clicked
    )
    assert table.chosen.ids == (table.current,) == (opened.ids[-1],)


def test_another_embedding_is_chosen_and_a_model_that_is_not_there_changes_nothing(
    opened, tmp_path, monkeypatch
):
    monkeypatch.setenv("BACKSTEP_CONFIG_DIR", str(tmp_path / "config"))
    opened.page.commands.by_id["index"].action.trigger()
    dialog = opened.page.index_dialog
    assert dialog.embedding.currentText() == "built-in"
    dialog.embedding.setEditText("")
    assert not dialog.index_button.isEnabled()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *words: str(tmp_path / "nowhere"))
    dialog.folder_button.click()
    assert dialog.embedding.currentText() == f"onnx:{tmp_path / 'nowhere'}"
    dialog.index_button.click()
    opened.wait(lambda: "There is no ONNX model at" in opened.window.notices.text.text())
    encoder_in(tmp_path / "nowhere")
    opened.page.commands.by_id["index"].action.trigger()
    opened.page.index_dialog.embedding.setEditText(f"onnx:{tmp_path / 'nowhere'}")
    opened.page.index_dialog.index_button.click()
    opened.wait(lambda: "indexed with nowhere (model.onnx" in opened.window.notices.text.text())
    opened.wait(lambda: opened.page._list.embedding.startswith("onnx:"))
    opened.page.commands.by_id["index"].action.trigger()
    assert opened.page.index_dialog.embedding.currentText() == f"onnx:{tmp_path / 'nowhere'}"


def test_what_is_saved_elsewhere_comes_in_and_versions_are_compared_side_by_side(opened, library):
    opened.controller.open(ALL[2].id)
    opened.wait(lambda: opened.page.table.current == ALL[2].id)
    before = len(opened.ids)
    library.put(exemplar("enter-text", 0, id="new-one"))
    opened.wait(lambda: len(opened.ids) == before + 1)
    assert [row.id for row in opened.page.table.selected] == [ALL[2].id]
    assert opened.page.table.current == ALL[2].id
    database = Library.open(library.folder / "exemplars.db")
    database.save(ALL[0].replace(task="Click on Ok."), why="shorter")
    database.close()
    opened.controller.open(ALL[0].id)
    versions = opened.page.detail.versions
    opened.wait(lambda: len(versions.table.lines_model.lines) == 2)
    versions.table.selectRow(1)
    opened.wait(lambda: versions.texts.changed)
    assert "differ in" in versions.title.text()
    versions.button.click()
    opened.wait(lambda: versions.table.lines_model.lines[1].cells[0] == "1, current")


def test_the_commands_ask_for_what_is_selected(opened, qtbot):
    opened.controller.open(ALL[0].id)
    opened.wait(lambda: opened.page.table.current == ALL[0].id)
    window = opened.window
    commands = opened.page.commands.by_id
    for name, signal in (
        ("edit", window.page.edit_requested),
        ("copy", window.page.copy_requested),
    ):
        with qtbot.waitSignal(signal) as asked:
            commands[name].action.trigger()
        assert asked.args == [ALL[0].id]
    window.page.replay_requested.disconnect(opened.controller._service.replay)
    for name, signal, expected in (
        ("replay", window.page.replay_requested, Chosen(ids=(ALL[0].id,))),
        ("worth", window.page.worth_requested, ALL[0].id),
    ):
        with qtbot.waitSignal(signal) as asked:
            commands[name].action.trigger()
        assert asked.args == [expected]
    with qtbot.waitSignal(window.page.new_requested):
        commands["new"].action.trigger()
    opened.wait(lambda: opened.page.detail.run_button.isVisible())
    with qtbot.waitSignal(opened.window.run_opened) as asked:
        opened.page.detail.run_button.click()
    assert asked.args == [4, 2]


def test_every_button_beside_the_list_has_a_name_before_an_exemplar_is_shown(qtbot, theme):
    pane = DetailPane(theme)
    qtbot.addWidget(pane)
    buttons = [
        button for button in inside(pane, QAbstractButton) if not button.objectName().startswith("qt_")
    ]
    assert pane.run_button in buttons
    assert [described(button) for button in buttons if not name_of(button)] == []


def test_a_check_lists_problems_that_lead_to_their_exemplars(opened, library):
    library.put(
        exemplar(
            "click-button", 0, id="wrong", steps=({"observation": "A page.", "actions": ("clack [1]",)},)
        )
    )
    opened.look_for("Click on the Ok")
    opened.page.commands.by_id["check_all"].action.trigger()
    opened.wait(lambda: opened.page.check.isVisible())
    assert "1 fault" in opened.page.check.title.text()
    opened.page.check.table.opened.emit("wrong")
    opened.wait(lambda: opened.page.table.current == "wrong")


def test_files_are_brought_in_and_written_after_showing_what_that_does(opened, library):
    path = library.folder / "brought.jsonl"
    lines = [exemplar("click-button", 0, id="brought/0", task="Brought.").model_dump_json(), '{"id": "x"}']
    path.write_text("\n".join(lines))
    opened.window.page.import_requested.emit()
    dialog = opened.controller.importing
    dialog.choose(str(path))
    opened.wait(lambda: dialog.import_button.isEnabled())
    assert [line.cells[1] for line in dialog.table.lines_model.lines] == ["faulty", "new"]
    dialog.leave_faulty.setChecked(False)
    opened.wait(lambda: not dialog.import_button.isEnabled() and dialog.problem.isVisible())
    dialog.leave_faulty.setChecked(True)
    opened.wait(lambda: dialog.import_button.isEnabled())
    dialog.import_button.click()
    opened.wait(lambda: not dialog.isVisible() and "brought/0" in opened.ids)
    opened.wait(lambda: opened.window.notices.undo_button.isVisible())
    opened.window.notices.undo_button.click()
    opened.wait(lambda: "brought/0" not in opened.ids)
    opened.look_for("flight")
    opened.page.commands.by_id["export"].action.trigger()
    dialog = opened.page.export_dialog
    dialog.which.setCurrentIndex(dialog.which.count() - 1)
    dialog.path.setText(str(library.folder / "out.jsonl"))
    dialog.export_button.click()
    opened.wait(lambda: "were written to" in opened.window.notices.text.text())
    assert len((library.folder / "out.jsonl").read_text().splitlines()) == opened.page.total


def test_the_window_is_as_it_was_left(opened, qtbot, library, theme, settings):
    opened.look_for("flight")
    opened.page.filters.sort_by("task", True)
    opened.wait(lambda: opened.page._list.query.order == "task")
    opened.page.table.setColumnWidth(3, 333)
    opened.window.close()
    parent = PlainWindow(theme, settings)
    qtbot.addWidget(parent)
    again = Opened(qtbot, LibraryController(parent, library.service, library.imports))
    assert again.page.filters.search.text() == "flight"
    assert (again.page.query.order, again.page.query.reverse) == ("task", True)
    assert again.page.table.columnWidth(3) == 333
    again.window.close()
