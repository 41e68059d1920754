"""Pictures of the main window in the states of a session."""

from PySide6.QtWidgets import QWidget

from core.debugger.fix.views import CausesView
from core.debugger.live_page import Picked
from core.debugger.session_view import RunsView, SessionView
from core.debugger.steps.views import (
    ActionView,
    ExemplarsView,
    ObservationView,
    PageChanges,
    PersonQuestion,
    PlanView,
    StackView,
    StateView,
    StepView,
)
from core.schema.events import ScriptWait
from core.schema.messages import Message
from core.schema.observation import Box
from tests.gui import reading_samples, samples
from tests.gui.fix import samples as fix_samples
from tests.gui.look.studio import Studio


def empty(studio: Studio) -> None:
    studio.session.session_changed.send(SessionView())


def review(studio: Studio) -> None:
    studio.review()


def focused(studio: Studio) -> None:
    """The focus in a list, with its ring."""
    studio.review()
    studio.settle()
    studio.window.docks.go_to("Policy stack")


def narrow(studio: Studio) -> None:
    """As on a screen of 1280 by 800 pixels at double density."""
    studio.review()
    studio.window.resize(640, 400)


def narrow_search(studio: Studio) -> None:
    narrow(studio)
    studio.settle()
    studio.window.tool_bar.focus_search()


def half_wide(studio: Studio) -> None:
    studio.review()
    studio.window.resize(960, 600)


def watch(studio: Studio) -> None:
    studio.review()
    studio.window.layouts.choose("watch")


def curate(studio: Studio) -> None:
    studio.review()
    studio.window.layouts.choose("curate")


def large_text(studio: Studio) -> None:
    studio.review()
    studio.settle()
    studio.window.theme.resize_text(140)


def target_below(studio: Studio) -> None:
    studio.review()
    below = Box(x=40, y=4000, width=80, height=24)
    others = tuple(one for one in samples.LIVE.outlines if not one.chosen)
    target = next(one for one in samples.LIVE.outlines if one.chosen).replace(box=below, hidden=True)
    studio.session.live_page_changed.send(samples.LIVE.replace(outlines=(*others, target)))


def edited(studio: Studio) -> None:
    studio.review()
    studio.settle()
    studio.window.action.form.line.setText("type [9] [happy birthday] [enter=1]")
    studio.window.action.form._on_line()
    studio.window.docks.places["Prompt"].bring()


def wrong(studio: Studio) -> None:
    studio.review()
    studio.settle()
    studio.window.action.form.line.setText("click [44]")
    studio.window.action.form._on_line()
    studio.window.docks.places["Log"].bring()


def pointing(studio: Studio) -> None:
    studio.review()
    studio.settle()
    studio.window.page.set_pointing(True)
    studio.session.picked.send(
        Picked(ref=8, label='button "Features"', box=Box(x=260, y=120, width=104, height=36))
    )


def pinned(studio: Studio) -> None:
    """An element is pinned; lines of the observation are new and changed."""
    changes = PageChanges(compared=True, new=(7,), changed={8: 'button "Attributes"'}, gone=3)
    observation = samples.OBSERVATION.replace(changes=changes)
    studio.review()
    studio.session.step_changed.send(samples.STEP.replace(observation=observation))
    studio.settle()
    studio.window.place("Observation").bring()
    studio.window.elements.pin(6)


def page_hangs(studio: Studio) -> None:
    studio.review()
    wait = ScriptWait(url="http://127.0.0.1:8000/report", seconds=9, left=6)
    studio.session.session_changed.send(samples.SESSION.replace(mode="acting", script=wait))


def looks_different(studio: Studio) -> None:
    """After going back to a page whose elements are equal, and whose picture is not."""
    studio.review()
    said = (
        "Back at step 4 by URL with storage: same page, 1 difference (the elements are equal, but the picture "
        "differs in 3 % of the window, at 16, 64 (96 × 64))."
    )
    view = samples.SESSION.replace(mode="waiting", message=said, doubt="picture")
    studio.session.session_changed.send(view)


def lost(studio: Studio) -> None:
    studio.review()
    said = "Back at step 3 by reload: lost, 4 differences. The page is not as recorded. Check it before you continue."
    studio.session.session_changed.send(samples.SESSION.replace(mode="waiting", message=said, doubt="lost"))


def handed_over(studio: Studio) -> None:
    studio.review()
    studio.session.session_changed.send(samples.SESSION.replace(handed_over=True))
    studio.window.docks.places["Log"].bring()


def thinking(studio: Studio) -> None:
    studio.review()
    studio.session.session_changed.send(
        samples.SESSION.replace(mode="asking", phase="decide", message="Asking gpt-4o…")
    )
    streaming = "The lamp is green and 20 inches high. It costs $58.00, which is below"
    studio.session.step_changed.send(
        samples.STEP.replace(action=ActionView(outcome="thinking", streaming=streaming))
    )


def answering(studio: Studio) -> None:
    studio.review()
    studio.session.session_changed.send(samples.SESSION.replace(mode="answering", phase="decide"))
    studio.session.step_changed.send(
        samples.STEP.replace(action=ActionView(form=samples.PERMISSIBLE.actions, elements=samples.ELEMENTS))
    )
    studio.session.question_asked.send(
        PersonQuestion(purpose="decide", messages=(Message(role="user", text="What next?"),))
    )


def recorded(studio: Studio) -> None:
    studio.review()
    studio.settle()
    studio.session.step_changed.send(samples.recorded_step())


def no_picture(studio: Studio) -> None:
    studio.review()
    studio.settle()
    step = samples.recorded_step()
    studio.session.step_changed.send(step.replace(screenshot=step.screenshot.replace(data=b"")))


def failed(studio: Studio) -> None:
    studio.review()
    message = (
        "The LLM server at http://localhost:11434/v1 does not answer (connection refused): start it, "
        "or choose another LLM (Ctrl+Shift+M), then go on (F10)."
    )
    studio.session.session_changed.send(samples.SESSION.replace(mode="failed", message=message))


def ended(studio: Studio) -> None:
    studio.review()
    studio.session.session_changed.send(
        samples.SESSION.replace(
            mode="ended",
            message="The page ended the episode after 5 steps.",
            success=True,
            reward=0.93,
            phase=None,
        )
    )


def judged_no_success(studio: Studio) -> None:
    studio.review()
    message = (
        "The run has ended: no success. Bought BKXK3R4XVF: type 1 (water bottle); attributes 2 of 3 "
        "(missing carrying loop); options 2 of 2; price 1 of 1 ($19.19 is within $30.00); reward 0.833."
    )
    studio.session.session_changed.send(
        samples.SESSION.replace(mode="ended", message=message, success=False, reward=0.833, phase=None)
    )


def causes(studio: Studio) -> None:
    """What made the run fail, with a change that was proven."""
    judged_no_success(studio)
    studio.settle()
    studio.window.place("Causes").bring()
    studio.window.causes.show_view(CausesView(run=18, clues=fix_samples.PROVEN.clues))


def unjudged(studio: Studio) -> None:
    studio.review()
    studio.session.session_changed.send(
        samples.SESSION.replace(mode="ended", message="The agent stopped.", judged=False, answer="$58.00")
    )


def long_content(studio: Studio) -> None:
    studio.review()
    studio.settle()
    rows = tuple(samples.step_row(18, number, thought="x" * 400) for number in range(1, 2500))
    runs = RunsView(
        runs=tuple(
            samples.run_row(run, task=f"miniwob/a-rather-long-task-name-{run}") for run in range(300, 0, -1)
        ),
        total=1000,
        current=18,
        steps={18: rows},
    )
    studio.session.runs_changed.send(runs)
    thought = "This is a long thought. " * 40
    studio.session.step_changed.send(
        StepView(
            run=18,
            number=2499,
            state=StateView(
                space="general",
                state="results",
                why="a reason that goes on " * 8,
                url="http://x/" + "a" * 300,
            ),
            action=samples.ACTION.replace(
                thought=thought,
                proposed="click [7]",
                origin="person",
                queue=("click [1]",) * 12,
            ),
            permissible=samples.STEP.permissible,
            observation=ObservationView(
                url="http://x",
                raw="[1] text " + "word " * 60_000 + "\n" + samples.RAW * 400,
                clean=samples.RAW,
                html="<p>" + "x" * 900_000,
                raw_elements=20_000,
                raw_tokens=612_000,
                clean_elements=40,
                clean_tokens=420,
            ),
            calls=samples.CALLS,
        )
    )


def abstracted(studio: Studio) -> None:
    studio.review()
    studio.session.step_changed.send(samples.STEP.replace(observation=samples.ABSTRACTED))


def parser(studio: Studio) -> None:
    abstracted(studio)
    studio.settle()
    studio.window.observation.parser.click()


def stopped(studio: Studio) -> None:
    studio.review()
    studio.session.runs_changed.send(samples.BRANCHED)
    studio.breakpoints.changed.send(samples.BREAKS)
    why = 'State item is entered (breakpoint 1): the URL has "/item" and there is a button "Buy now".'
    studio.session.session_changed.send(samples.SESSION.replace(run=21, message=why, stopped_at=why))


def crossing(studio: Studio) -> None:
    """A page leads out of the sites of the task."""
    studio.review()
    why = (
        "evil.example is not one of the task's sites (shop.example.org). Run (F5) or Step (F10) opens it, and "
        "evil.example from now on in this run; Skip (Ctrl+J) refuses it."
    )
    studio.session.session_changed.send(
        samples.SESSION.replace(
            message=why,
            stopped_at=why,
            held_request="https://evil.example/offer",
            crossing="evil.example",
            sites=("shop.example.org", "pay.example.org"),
        )
    )


def mechanisms(studio: Studio) -> QWidget:
    studio.review()
    studio.settle()
    menu = studio.window.menus.mechanisms
    menu.popup(studio.window.mapToGlobal(studio.window.tool_bar.mechanisms.geometry().bottomLeft()))
    return menu


def switched_off(studio: Studio) -> None:
    """Every panel of a mechanism that is off."""
    studio.review()
    off = "{} is switched off. Switch it on in Mechanisms (Ctrl+Shift+H); it takes hold at the next step."
    studio.session.step_changed.send(
        samples.STEP.replace(
            state=StateView(message=off.format("The state space")),
            stack=StackView(message=off.format("The policy stack")),
            plan=PlanView(message=off.format("The plan")),
            exemplars=ExemplarsView(message=off.format("The memory")),
        )
    )


def timed(studio: Studio) -> None:
    """The time bar of a run, with the page log in front."""
    studio.review()
    studio.settle()
    studio.window.place("Log").bring()
    studio.window.time.show_bar(on=True)
    studio.settle()
    studio.timeline.logged.send(reading_samples.LOG)
    studio.timeline.changed.send(reading_samples.times())


def timed_to_scale(studio: Studio) -> None:
    studio.review()
    studio.window.time.show_bar(on=True)
    studio.settle()
    studio.timeline.changed.send(reading_samples.times(400, 0.5))
    studio.settle()
    studio.window.time.fold.setChecked(False)
    studio.window.time.bar.zoom_by(20, 100)


def log_not_kept(studio: Studio) -> None:
    timed(studio)
    message = "This step was recorded by a version without page logs. Run the task again (Ctrl+R) to get one."
    studio.timeline.logged.send(reading_samples.LOG.replace(parts=(), message=message))
    studio.timeline.changed.send(reading_samples.times(1))


def led(studio: Studio) -> None:
    """The page and the prompt as shown after following an origin."""
    studio.review()
    studio.settle()
    studio.timeline.changed.send(reading_samples.times())
    for place in (reading_samples.WHY.places[1], reading_samples.WHY.places[0]):
        studio.origins.leads.follow(place)
        studio.settle()


def diff(studio: Studio) -> None:
    studio.review()
    studio.settle()
    studio.timeline.changed.send(reading_samples.times())
    studio.window.place("Diff").bring()
    studio.settle()
    studio.compare.diffed.send(reading_samples.PAIR)
