"""Draws the editor of exemplars."""

from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.editor.views import EditorView, OpenedExemplar
from core.debugger.exemplars.library.views import ComparedVersions
from core.exemplars.editing.toml_text import NEW_TEXT, text_of
from core.exemplars.library.records import differences
from gui.exemplars.editor.dialogs import ReplaceDialog, ask_conflict
from gui.exemplars.editor.window import EditorWindow
from tests.gui.exemplars.editor import samples
from tests.gui.look.studio import Studio


def _editor(studio: Studio, view: EditorView) -> EditorWindow:
    shown = EditorWindow(studio.window.theme, studio.window)
    shown.preview.choose("synapse")
    shown.resize(1280, 800)
    shown.show_view(view)
    shown.show()
    studio.settle()
    if view.opened is not None:
        shown.show_view(view.replace(checked=samples.checked(view.opened.text, shown._edit)))
    studio.settle()
    return shown


def editor(studio: Studio) -> QWidget:
    shown = _editor(studio, samples.view())
    shown.go_to(36, 5)
    shown.text.verticalScrollBar().setValue(12)
    return shown


def editor_faults(studio: Studio) -> QWidget:
    opened = samples.opened(samples.BROKEN_TEXT, base=samples.TEXT)
    problem = (
        "The draft cannot be saved in /home/me/data/drafts (No space left on device). Save the exemplar."
    )
    shown = _editor(studio, samples.view(samples.BROKEN_TEXT, opened=opened, problem=problem))
    shown.text.go_to_problem(1)
    shown.text.go_to_problem(1)
    return shown


def editor_syntax(studio: Studio) -> QWidget:
    text = samples.TEXT.replace("thought = ", "thought ", 1)
    return _editor(studio, samples.view(text, opened=samples.opened(text, base=samples.TEXT)))


def editor_find(studio: Studio) -> QWidget:
    shown = _editor(studio, samples.view())
    shown.text.open_finder()
    shown.text.finder.field.setText("oakland")
    return shown


def editor_new(studio: Studio) -> QWidget:
    opened = OpenedExemplar(serial=1, key="new", text=NEW_TEXT, base=NEW_TEXT, origin="by hand")
    return _editor(studio, samples.view(opened=opened, versions=(), pages=(), drafts=()))


def editor_waiting(studio: Studio) -> QWidget:
    return _editor(studio, EditorView())


def editor_parser(studio: Studio) -> QWidget:
    shown = _editor(studio, samples.view(trial=samples.TRIAL))
    shown.tabs.setCurrentWidget(shown.parser)
    return shown


def editor_parser_failed(studio: Studio) -> QWidget:
    shown = _editor(studio, samples.view(trial=samples.FAILED))
    shown.tabs.setCurrentWidget(shown.parser)
    return shown


def editor_versions(studio: Studio) -> QWidget:
    shown = _editor(studio, samples.view())
    shown.tabs.setCurrentWidget(shown.versions)
    shown.versions.table.selectRow(1)
    compared = ComparedVersions(
        id=samples.DRAFT.id,
        left=2,
        left_text=samples.BROKEN_TEXT,
        right_text=samples.TEXT,
        differences=differences(samples.BROKEN, samples.DRAFT),
    )
    shown.versions.show_compared(compared)
    return shown


def editor_menu(studio: Studio) -> QWidget:
    return _editor(studio, samples.view()).change_button.menu()


def editor_long(studio: Studio) -> QWidget:
    step = samples.DRAFT.steps[0].replace(
        observation="\n".join(
            f'[{at}] link "A link with quite a long name, number {at}"' for at in range(400)
        ),
        actions=tuple(f"click [{at}]" for at in range(30)),
        thought="Thinking at length. " * 30,
        raw="x" * 20_000,
    )
    draft = samples.DRAFT.replace(
        steps=(step,) * 40, task="A task that is told at great length. " * 12, note="n " * 200
    )
    shown = _editor(studio, samples.view(text_of(draft)))
    shown.go_to(14000, 1)
    return shown


def editor_replace(studio: Studio) -> QWidget:
    shown = _editor(studio, samples.view())
    shown.replace_value()
    dialog = shown.asking
    assert isinstance(dialog, ReplaceDialog)
    dialog.value.setText("Oakland")
    dialog.other.setText("{city}")
    return dialog


def editor_conflict(studio: Studio) -> QWidget:
    shown = _editor(studio, samples.view())
    text = (
        "flights/oakland was saved elsewhere since you opened it: it is now at version 4, yours is "
        "based on version 3."
    )
    return ask_conflict(text, lambda _way: None, shown)
