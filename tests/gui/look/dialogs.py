"""Pictures of dialogs, and of where words come from."""

from PySide6.QtWidgets import QWidget

from core.debugger.background_work.views import BackgroundWorkView, WorkRow
from core.debugger.jobs import Job
from core.debugger.llms.views import LLMAnswer, LLMEntry
from core.debugger.tasks.views import TaskFilesAnswer
from core.llm.endpoints import Endpoint
from gui.background_work.window import BackgroundWorkWindow
from gui.llms.dialog import SettingsDialog
from gui.panels.breakpoints.editor import BreakpointEditor
from gui.panels.breakpoints.expression_field import ExpressionField
from gui.shell.help import KeysDialog
from gui.task_chooser.chooser import TaskChooser
from tests.gui import reading_samples, samples
from tests.gui.look.studio import Studio


def background_work(studio: Studio) -> QWidget:
    check = Job(title="Checking exemplars", done=40, of=200, opens="library")
    proof = Job(title="Proof for run 7, which has a long name, as a person gave it", opens="fix", run=7)
    shown = background_work_none(studio)
    rows = (
        WorkRow(number=3, job=check),
        WorkRow(number=2, job=proof, state="failed", words="The browser has ended. Start it again."),
        WorkRow(number=1, job=proof, state="ended", words="0 of 5 before, 5 of 5 after"),
    )
    shown.show_view(BackgroundWorkView(rows=rows))
    return shown


def background_work_none(studio: Studio) -> BackgroundWorkWindow:
    shown = BackgroundWorkWindow(studio.window.theme, studio.window)
    shown.show()
    return shown


def welcome(studio: Studio) -> QWidget:
    studio.window.tasks.show_welcome()
    assert studio.window.tasks.welcome is not None
    return studio.window.tasks.welcome


def chooser(studio: Studio) -> QWidget:
    studio.settle()
    studio.window.tasks.choose_task()
    assert studio.window.tasks.chooser is not None
    return studio.window.tasks.chooser


def keys(studio: Studio) -> QWidget:
    studio.window.actions_by_name["keys"].trigger()
    return studio.window.findChild(KeysDialog)


def own_tasks(studio: Studio) -> QWidget:
    shown = chooser(studio)
    studio.session.catalogue_changed.send(samples.FILES_CATALOGUE)
    studio.settle()
    assert isinstance(shown, TaskChooser)
    text = "tasks-of-my-shop.toml: 2 tasks, also added for the next start."
    shown.show_answer(TaskFilesAnswer(ok=True, text=text, task="shop/lamp-price"))
    return shown


def bad_file(studio: Studio) -> QWidget:
    shown = own_tasks(studio)
    assert isinstance(shown, TaskChooser)
    lines = [f"  line {line}: tasks[{line}].instruction: is missing" for line in range(3, 15)]
    text = "\n".join(
        ["more.toml was not added. Correct it, then add it again.", "more.toml has 12 problems:", *lines]
    )
    shown.show_answer(TaskFilesAnswer(ok=False, text=text))
    return shown


def task_files(studio: Studio) -> QWidget:
    shown = own_tasks(studio)
    assert isinstance(shown, TaskChooser)
    shown.show_answer(None)
    shown.tabs.setCurrentIndex(2)
    return shown


def settings(studio: Studio) -> QWidget:
    presets = (
        Endpoint(name="openai", title="OpenAI", base_url="https://api.openai.com/v1", needs_key=True),
        Endpoint(
            name="ollama",
            title="Ollama",
            base_url="http://127.0.0.1:11434/v1",
            note="Start it with: ollama serve.",
        ),
    )
    dialog = SettingsDialog(studio.window.theme, presets, studio.window)
    form = LLMEntry(
        name="llama",
        base_url="http://127.0.0.1:11434/v1",
        model="llama3.3",
        temperature=0.2,
        body={"top_k": 20},
    )
    dialog.show_llms((form, LLMEntry(name="gpt", base_url=presets[0].base_url, model="gpt-4o")), "llama")
    dialog.show_answer(
        LLMAnswer(
            ok=True,
            text="llama: The LLM server at http://127.0.0.1:11434 answers in 12 ms and has llama3.3. It calls a tool "
            "when asked, but cannot be forced to; follows a JSON schema, but does not accept a strict one; takes no "
            "pictures; streams; counts tokens. It stops when a call is cancelled: the next one was answered after "
            '0.2 s. Presets with reply_format = "auto" ask it for tools. The test took 912 tokens.',
        )
    )
    dialog.show()
    return dialog


def settings_empty(studio: Studio) -> QWidget:
    dialog = SettingsDialog(studio.window.theme, (), studio.window)
    dialog.show_llms((), "")
    dialog.show()
    return dialog


def settings_local(studio: Studio) -> QWidget:
    dialog = SettingsDialog(studio.window.theme, (), studio.window)
    model = "gguf:/home/ada/models of last week/" + "a-long-name-of-a-model-" * 4 + "q4.gguf"
    dialog.show_llms((LLMEntry(name="small", model=model),), "small")
    dialog.show()
    return dialog


def _editor(studio: Studio, number: int) -> BreakpointEditor:
    studio.review()
    studio.breakpoints.changed.send(samples.BREAKS)
    studio.settle()
    panel = studio.window.breakpoints
    panel.breakpoints.select_key(number)
    panel.edit_action.trigger()
    assert studio.breaks.editor is not None
    return studio.breaks.editor


def editor(studio: Studio) -> QWidget:
    return _editor(studio, 2)


def editor_refused(studio: Studio) -> QWidget:
    shown = _editor(studio, 5)
    shown.fields["expression"].widget.setText("state.nmae == 1")  # type: ignore[attr-defined]
    shown.show_answer("At character 7: state has no “nmae”; did you mean name?")
    return shown


def editor_completing(studio: Studio) -> QWidget:
    shown = _editor(studio, 5)
    field = shown.fields["expression"].widget
    assert isinstance(field, ExpressionField)
    field.setText("p")
    field.offer()
    return field.names.popup


def origin(studio: Studio) -> QWidget:
    studio.review()
    studio.settle()
    studio.window.why_requested.emit(18, 5, "Buy now")
    assert studio.origins.shown is not None
    studio.provenance.changed.send(reading_samples.WHY)
    return studio.origins.shown


def origin_nowhere(studio: Studio) -> QWidget:
    shown = origin(studio)
    studio.settle()
    studio.window.why_requested.emit(18, 5, "a zebra crossing")
    verdict = "The LLM was not shown it, and nothing else in the step contains it: it is the LLM's own."
    studio.provenance.changed.send(
        reading_samples.WHY.replace(text="a zebra crossing", places=(), verdict=verdict)
    )
    return shown
