"""Draws the editor of exemplars as look draws the window: ``python -m tests.gui.look.editor OUTDIR [NAME …]``."""

from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.editor.views import Conflict, EditorView, OpenedExemplar, VersionTexts
from core.memory.editing.draft import EMPTY
from gui.exemplars.editor.dialogs import ask_conflict
from gui.exemplars.editor.window import EditorWindow
from tests.gui.exemplars.editor import samples
from tests.gui.look.studio import Studio, take_pictures


def _editor(studio: Studio, view: EditorView) -> EditorWindow:
    shown = EditorWindow(studio.window.theme, studio.window.history, studio.window)
    shown.preview.choose("synapse")
    shown.resize(1280, 800)
    shown.show_view(view)
    draft = view.opened.draft if view.opened is not None else EMPTY
    shown.show()
    studio.settle()
    if view.checked.edit >= 0:
        shown.show_view(view.replace(checked=samples.checked(draft, shown._edit)))
    studio.settle()
    return shown


def editor(studio: Studio) -> QWidget:
    shown = _editor(studio, samples.view())
    shown.look.actions_field.setFocus()
    return shown


def editor_faults(studio: Studio) -> QWidget:
    opened = samples.opened(samples.BROKEN, base=samples.DRAFT)
    problem = (
        "The draft cannot be saved in /home/me/data/drafts (No space left on device). Save the exemplar."
    )
    shown = _editor(studio, samples.view(samples.BROKEN, opened=opened, problem=problem))
    shown.tabs.setCurrentWidget(shown.problems)
    return shown


def editor_new(studio: Studio) -> QWidget:
    opened = OpenedExemplar(serial=1, key="new", draft=EMPTY, base=EMPTY, origin="by hand")
    return _editor(studio, samples.view(EMPTY, opened=opened, versions=(), pages=(), drafts=()))


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
    shown.versions.list.setCurrentRow(1)
    return shown


def editor_contrasts(studio: Studio) -> QWidget:
    shown = _editor(studio, samples.view())
    shown.tabs.setCurrentWidget(shown.contrasts)
    shown.looks.choose(0, 1)
    return shown


def editor_long(studio: Studio) -> QWidget:
    step = samples.DRAFT.steps[0].replace(
        observation="\n".join(
            f'[{at}] link "A link with quite a long name, number {at}"' for at in range(400)
        ),
        actions=tuple(f"click [{at}]" for at in range(30)),
        thought="Thinking at length. " * 30,
    )
    draft = samples.DRAFT.replace(
        steps=(step,) * 40,
        task="A task that is told at great length. " * 12,
        note="n " * 200,
    )
    return _editor(studio, samples.view(draft))


def editor_compared(studio: Studio) -> QWidget:
    other = samples.BROKEN
    texts = VersionTexts(left=1, right=None, left_draft=other)
    shown = _editor(studio, samples.view())
    shown.versions.compare_requested.emit(1, None)
    shown.show_view(samples.view(texts=texts))
    studio.settle()
    assert shown.compared is not None
    return shown.compared


def editor_values(studio: Studio) -> QWidget:
    shown = _editor(studio, samples.view())
    shown.generalise()
    assert shown.values is not None
    shown.values.value.setText("Oakland")
    shown.values.name.setText("{city}")
    return shown.values


def editor_conflict(studio: Studio) -> QWidget:
    shown = _editor(studio, samples.view())
    text = (
        "flights/oakland was saved elsewhere since you opened it: it is now at version 4, yours is "
        "based on version 3."
    )
    return ask_conflict(Conflict(id="flights/oakland", text=text), lambda _way: None, shown)


if __name__ == "__main__":
    take_pictures(globals())
