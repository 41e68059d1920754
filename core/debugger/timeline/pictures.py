"""Pictures of the page: before and after a step, and those of the filmstrip."""

from core.debugger.steps.view import not_read, screenshot_view, step_after
from core.debugger.steps.views import ScreenshotView
from core.debugger.timeline.views import StepPictures
from core.schema.step import Observed, record_of
from core.trace.records import StepDetail
from core.trace.store import TraceStore

_NOT_KEPT = "was not taken or not kept (pictures in the settings, --pictures)."


def step_pictures(store: TraceStore, run: int, number: int) -> StepPictures:
    """Return the page as a step observed it, and as the next step of the same run observed it; raises TraceError."""
    detail = store.step(run, number)
    following, why = step_after(store, detail)
    return StepPictures(
        run=run,
        number=number,
        row=detail.row,
        before=_shot(store, detail, f"The picture before step {number}"),
        after=ScreenshotView(missing=why)
        if following is None
        else _shot(store, following, f"The picture after step {detail.row.number}").replace(box=None),
    )


def restored_pictures(store: TraceStore, run: int) -> StepPictures:
    """Return the step that a run branched from as it was recorded, and as it was brought back; raises TraceError."""
    row = store.run(run)
    assert row.parent_run is not None
    assert row.parent_step is not None
    recorded, begun = (store.step(one, row.parent_step) for one in (row.parent_run, run))
    return StepPictures(
        run=run,
        number=row.parent_step,
        before=_shot(store, recorded, "The recorded picture").replace(box=None),
        after=_shot(store, begun, "The picture of the restored page").replace(box=None),
        restored=True,
    )


def _shot(store: TraceStore, detail: StepDetail, what: str) -> ScreenshotView:
    """Return the picture that a step observed, or why there is none."""
    shot = screenshot_view(store, detail)
    if shot.data:
        return shot
    observed = record_of(Observed, detail.records)
    if observed is None:
        return shot.replace(missing=f"{what} is missing. {not_read(detail)}")
    why = "cannot be read from the database." if observed.screenshot else _NOT_KEPT
    return shot.replace(missing=f"{what} {why}")
