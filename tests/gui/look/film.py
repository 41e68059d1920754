"""Pictures of the filmstrip, before and after, a run's card and the preview."""

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, QRect
from PySide6.QtGui import QColor, QFont, QImage, QPainter
from PySide6.QtWidgets import QWidget

from core.debugger.steps.views import ScreenshotView
from core.debugger.timeline.views import StepPictures, TimeMark
from core.schema.observation import Box
from core.schema.task import Verdict
from tests.gui import reading_samples, samples
from tests.gui.look.studio import Studio
from tests.gui.stand_ins import paint_page


def page_picture(number: int, *, dark: bool = False, width: int = 680, height: int = 400) -> bytes:
    """Return a PNG of a page with a number on it."""
    image = QImage(width, height, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    paint_page(painter, QRect(0, 0, width, height))
    if dark:
        painter.fillRect(0, 0, width, height, QColor("#15171c"))
    painter.fillRect(20, 190, 90 + 37 * number % 400, 60, QColor.fromHsv(number * 47 % 360, 140, 200))
    font = QFont("Liberation Sans")
    font.setPixelSize(64)
    painter.setFont(font)
    painter.setPen(QColor("#c9ced8" if dark else "#333"))
    painter.drawText(QPoint(30, 350), f"Page {number}")
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return data.data()


def _begin(studio: Studio, steps: int = 12, *, pictures: bool = True, dark: bool = False) -> None:
    studio.review()
    studio.settle()
    view = reading_samples.times(steps)
    if pictures:
        for number in range(min(steps, 40)):
            studio.timeline.pictures[f"page-{number}"] = page_picture(number + 1, dark=dark)
        named = (step.replace(picture=f"page-{(step.number - 1) % 40}") for step in view.steps)
        view = view.replace(steps=tuple(named))
    number = min(6, steps)
    marks = (
        TimeMark(
            time=view.steps[number - 1].ended, step=number, kind="right", text="Judged right by the LLM."
        ),
        TimeMark(time=view.steps[0].ended, step=1, kind="wrong", text="Judged wrong by the LLM."),
        TimeMark(time=view.steps[0].begun, step=1, kind="branch", text="Run 19 leaves run 18 before step 1"),
    )
    studio.timeline.changed.send(view.replace(marks=(*view.marks, *marks)))
    studio.window.time.show_bar(on=True)
    studio.settle()


def film(studio: Studio) -> None:
    _begin(studio)


def film_dark_pages(studio: Studio) -> None:
    _begin(studio, dark=True)
    studio.window.time._set_height(180)


def film_thousand(studio: Studio) -> None:
    _begin(studio, 1000)
    studio.window.time.film.scrub_to(504)
    studio.settle()


def film_one_step(studio: Studio) -> None:
    _begin(studio, 1)


def film_without_pictures(studio: Studio) -> None:
    _begin(studio, pictures=False)


def _pair(number: int = 3, *, after: bool = True) -> StepPictures:
    shot = ScreenshotView(
        data=page_picture(1),
        viewport=(680, 400),
        box=Box(x=140, y=120, width=104, height=36),
        caption="Step 3",
    )
    last = "This is the last step of its run: the page was not observed after it."
    following = ScreenshotView(data=page_picture(9), viewport=(680, 400))
    return StepPictures(
        run=18,
        number=number,
        row=samples.STEPS[2],
        before=shot,
        after=following if after else ScreenshotView(missing=last),
    )


def scrubbed(studio: Studio) -> None:
    _begin(studio)
    studio.timeline.steps[18, 3] = _pair()
    studio.window.time.film.scrub_to(2)


def _compared(studio: Studio, mode: str, *, after: bool = True) -> None:
    studio.review()
    studio.settle()
    studio.timeline.steps[18, 3] = _pair(after=after)
    step = samples.recorded_step()
    studio.session.step_changed.send(step.replace(screenshot=_pair().before))
    studio.settle()
    studio.window.page.cover.set_mode(mode)  # type: ignore[arg-type]


def side_by_side(studio: Studio) -> None:
    _compared(studio, "side")


def slider(studio: Studio) -> None:
    _compared(studio, "slider")


def side_without_after(studio: Studio) -> None:
    _compared(studio, "side", after=False)


def slider_without_after(studio: Studio) -> None:
    _compared(studio, "slider", after=False)


def restored(studio: Studio) -> None:
    """The page as it was recorded beside the page as it was brought back."""
    studio.review()
    studio.settle()
    view = samples.SESSION.replace(mode="waiting", message="Back at step 3.", doubt="picture")
    studio.session.session_changed.send(view)
    studio.window.page.messages.pictures_button.click()
    studio.timeline.looked.send(_pair().replace(row=None, restored=True))


def run_card(studio: Studio) -> None:
    studio.review()
    studio.settle()
    row = samples.run_row(
        19,
        verdict=Verdict(success=False, reward=0.833, judge="page", reason="Bought a lamp of another colour."),
        parent_run=18,
        parent_step=3,
        grade="exact",
        name="second try",
        touched=True,
        llm_calls=14,
        prompt_tokens=51_204,
        completion_tokens=1_802,
        cost=0.31,
        seconds=84.2,
        seconds_in_llm=61.0,
        answer="$58.00",
    )
    studio.window.runs.run_chosen.emit(row)


def run_card_long(studio: Studio) -> None:
    studio.review()
    studio.settle()
    row = samples.run_row(17, outcome="error", verdict=Verdict(), error="The browser went away. " * 12)
    studio.window.runs.run_chosen.emit(row.replace(instruction="Buy a lamp, and then another one. " * 30))


def run_card_without_steps(studio: Studio) -> None:
    studio.review()
    studio.settle()
    studio.window.runs.run_chosen.emit(samples.run_row(15, outcome="interrupted", verdict=Verdict(), steps=0))


def playing(studio: Studio) -> None:
    _begin(studio)
    studio.window.time.play.toggle()


def preview(studio: Studio) -> QWidget:
    studio.review()
    studio.settle()
    studio.timeline.steps[18, 3] = _pair()
    runs = studio.window.runs
    runs.tree.setCurrentIndex(runs.model.step_index(18, 3))
    runs.hover.toggle()
    return runs.hover.preview
