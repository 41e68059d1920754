"""Pictures of the page: before and after a step, and those of the filmstrip."""

from collections.abc import Iterable

from core.debugger.steps.view import not_read, picture, screenshot_view, step_after
from core.debugger.steps.views import ScreenshotView
from core.debugger.timeline.views import FilmPictures, StepPictures
from core.schema.step import BlobHash, Observed, record_of
from core.trace.records import StepDetail
from core.trace.store import TraceStore

_NOT_KEPT = "was not taken or not kept (pictures in the settings, --pictures)."


def film_pictures(store: TraceStore, names: Iterable[BlobHash]) -> FilmPictures:
    """Return these pictures; one that is missing or damaged has no bytes."""
    return FilmPictures(pictures=tuple((name, picture(store, name)) for name in names))


def step_pictures(store: TraceStore, run: int, number: int) -> StepPictures:
    """Return the page as a step observed it, and as the next step of the same run observed it; raises TraceError."""
    detail = store.step(run, number)
    before = screenshot_view(store, detail)
    after, no_after = _after(store, detail)
    return StepPictures(
        run=run,
        number=number,
        row=detail.row,
        before=before,
        after=after,
        no_before="" if before.data else _missing(detail, f"The picture before step {number}"),
        no_after=no_after,
    )


def restored_pictures(store: TraceStore, run: int) -> StepPictures:
    """Return the step that a run branched from as it was recorded, and as it was brought back; raises TraceError."""
    row = store.run(run)
    assert row.parent_run is not None
    assert row.parent_step is not None
    recorded, begun = (store.step(one, row.parent_step) for one in (row.parent_run, run))
    before, after = (screenshot_view(store, one).replace(box=None) for one in (recorded, begun))
    return StepPictures(
        run=run,
        number=row.parent_step,
        before=before,
        after=after,
        no_before="" if before.data else _missing(recorded, "The recorded picture"),
        no_after="" if after.data else _missing(begun, "The picture of the restored page"),
        restored=True,
    )


def _after(store: TraceStore, detail: StepDetail) -> tuple[ScreenshotView, str]:
    following, why = step_after(store, detail)
    if following is None:
        return ScreenshotView(), why
    after = screenshot_view(store, following).replace(box=None)
    return after, "" if after.data else _missing(following, f"The picture after step {detail.row.number}")


def _missing(detail: StepDetail, what: str) -> str:
    observed = record_of(Observed, detail.records)
    if observed is None:
        return f"{what} is missing. {not_read(detail)}"
    return f"{what} cannot be read from the database." if observed.screenshot else f"{what} {_NOT_KEPT}"
