"""Pictures of the command palette."""

from core.debugger.palette.views import MatchingExemplars, MatchingRuns, PolicyRow, ResourcesView, SettingRow
from core.debugger.session_view import SessionView
from core.exemplars.library.records import LibraryRow
from gui.palette.controller import PaletteController
from tests.gui import samples
from tests.gui.look.studio import Studio
from tests.gui.stand_ins import AskedService

RESOURCES = ResourcesView(
    policies=(PolicyRow(id="webarena/find_commits", path="/x/find_commits.md"),),
    settings=(
        SettingRow(name="max_steps", value="30", meaning="page actions of a run, all trials together"),
        SettingRow(name="theme", value="system", meaning="system, light, dark"),
    ),
)
RUNS = tuple(
    samples.run_row(run, task="miniwob/book-flight", instruction="Book the cheapest flight")
    for run in (18, 9, 4)
)
EXEMPLARS = (
    LibraryRow(
        id="miniwob/book-flight/2", family="book-flight", task="Book the cheapest flight to Fairbanks"
    ),
)


def _open(studio: Studio, typed: str) -> PaletteController:
    studio.review()
    studio.settle()
    service = AskedService("exemplars_found", "resources_listed")
    controller = PaletteController(studio.window, service)
    studio.kept = (controller, service)  # type: ignore[attr-defined]
    studio.session.catalogue_changed.send(samples.CATALOGUE)
    studio.settle()
    controller.open()
    service.resources_listed.send(RESOURCES)  # type: ignore[attr-defined]
    studio.settle()
    controller.shown.field.setText(typed)
    words = typed.lstrip("#! ")
    service.changed.send(MatchingRuns(words=words, rows=RUNS))
    service.exemplars_found.send(MatchingExemplars(words=words, rows=EXEMPLARS))  # type: ignore[attr-defined]
    studio.settle()
    return controller


def palette_empty(studio: Studio) -> None:
    _open(studio, "")


def palette_found(studio: Studio) -> None:
    _open(studio, "book")


def palette_letters(studio: Studio) -> None:
    _open(studio, "rtos")


def palette_runs(studio: Studio) -> None:
    _open(studio, "#")


def palette_steps(studio: Studio) -> None:
    _open(studio, "@")


def palette_nothing(studio: Studio) -> None:
    controller = _open(studio, "zzzz")
    controller._show_runs(MatchingRuns(words="zzzz"))
    controller._show_exemplars(MatchingExemplars(words="zzzz"))


def palette_disabled(studio: Studio) -> None:
    controller = _open(studio, "go back to hit")
    studio.session.session_changed.send(SessionView())
    studio.settle()
    controller.shown.hide()
    controller.open()
    controller.shown.field.setText("accept")
    controller.shown._choose(0)


def palette_small(studio: Studio) -> None:
    studio.window.resize(760, 480)
    _open(studio, "set")
