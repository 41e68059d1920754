"""What the window's session is made of, apart from the window."""

import sys
from collections.abc import Awaitable
from pathlib import Path

from core.browser.host import BrowserHost
from core.debugger.ask_again.service import AskDesk
from core.debugger.branching.service import ForkDesk
from core.debugger.breakpoints.service import BreakDesk
from core.debugger.compare.service import CompareDesk
from core.debugger.exemplars.analyses.service import AnalysisDesk
from core.debugger.exemplars.editor.service import EditorDesk
from core.debugger.exemplars.library.service import LibraryDesk
from core.debugger.exemplars.recording.service import RecordDesk
from core.debugger.exemplars.saving.service import KeepDesk
from core.debugger.experiments.bisect_records import Wanted
from core.debugger.experiments.bisect_service import BisectDesk
from core.debugger.experiments.evaluation_service import ProvingDesk
from core.debugger.experiments.records import WorthWanted
from core.debugger.llms.service import LLMDesk
from core.debugger.provenance.service import ReadingDesk
from core.debugger.services import Workshop, open_workshop
from core.debugger.session import Session
from core.debugger.tasks.service import TaskDesk
from core.environments.registry import Environments
from core.llm.registry import open_llms
from core.schema.record import Record
from core.settings.settings import Settings, config_folder

_MAIN = Path(__file__).resolve().parents[2] / "main.py"


class WindowArguments(Record):
    """What the window was asked to begin with."""

    task: str
    seed: int = 0
    url: str = ""
    instruction: str = ""
    chosen: bool = False
    """Whether the task was asked for, and is not the default one."""
    preset: str = ""
    llm: str = ""
    task_files: tuple[Path, ...] = ()
    webarena: tuple[Path, ...] = ()


def make_desk(session: Session, settings: Settings) -> LLMDesk:
    """Return what the settings window asks of a session's LLMs."""
    flags: dict[str, object] = {"base_url": settings.base_url} if settings.base_url_origin == "flag" else {}
    return LLMDesk(session.queue, session.use_llms, session.llms, config=config_folder(), flags=flags)


def make_task_desk(session: Session) -> TaskDesk:
    """Return what the task chooser asks of a session's files of tasks."""
    return TaskDesk(session.queue, session.environments, session.offer)


def make_break_desk(session: Session) -> BreakDesk:
    """Return what the window asks of breakpoints and watches."""
    return BreakDesk(session, session.queue)


def make_ask_desk(session: Session) -> AskDesk:
    """Return what asking again needs of the session."""
    return AskDesk(
        session,
        session.llms,
        session.queue,
        knowledge=lambda changes: session.workshop().knowledge_for(changes),
    )


def make_compare_desk(session: Session) -> CompareDesk:
    """Return what comparing runs and steps needs of the session."""
    return CompareDesk(session, session.queue)


def make_reading_desk(session: Session) -> ReadingDesk:
    """Return what the window reads of a run beside the step in view."""
    return ReadingDesk(session, session.queue)


def make_fork_desk(session: Session) -> ForkDesk:
    """Return what the fork dialog asks of the session."""
    return ForkDesk(session)


def make_editor_desk(session: Session) -> EditorDesk:
    """Return what the editor of exemplars asks of the session."""
    return EditorDesk(session.workshop, session.queue)


def make_analysis_desk(session: Session) -> AnalysisDesk:
    """Return what looks at all exemplars at once."""
    return AnalysisDesk(session)


def make_keep_desk(session: Session) -> KeepDesk:
    """Return what keeping runs as exemplars needs of the session."""
    return KeepDesk(session)


def make_record_desk(session: Session) -> RecordDesk:
    """Return what recording by hand needs of the session."""
    return RecordDesk(session)


def make_library_desk(session: Session) -> LibraryDesk:
    """Return what the window of the exemplars asks of the session."""
    return LibraryDesk(session)


def make_session(settings: Settings, host: BrowserHost, arguments: WindowArguments) -> Session:
    """Return a session that opens its workshop once it is started; a file of tasks that is bad is no failure."""

    def open_it() -> Awaitable[Workshop]:
        return open_workshop(
            settings,
            host,
            llms=open_llms(settings, config_folder=config_folder()),
            environments=Environments(
                task_files=arguments.task_files,
                webarena=arguments.webarena,
                remembered_task_files=settings.task_files,
                remembered_webarena=settings.webarena,
                strict=False,
            ),
            config=config_folder(),
        )

    return Session(open_it)


def make_bisect_desk(session: Session, settings: Settings, arguments: WindowArguments) -> BisectDesk:
    """Return what the bisect window asks of the session; it bisects in a process of its own."""

    def command(wanted: Wanted, database: Path) -> list[str]:
        words = [sys.executable, str(_MAIN), "bisect", str(wanted.run), "--lines", "--db", str(database)]
        words += ["--times", str(wanted.times), "--every", str(wanted.every), "--browser", settings.browser]
        words += ["--max-steps", str(session.session.max_steps), "--on-gate", settings.on_gate]
        for step in wanted.steps:
            words += ["--at", str(step)]
        return [*words, *_asked(settings, wanted), *_files(arguments)]

    return BisectDesk(session, command, _apart(settings))


def make_proving_desk(session: Session, settings: Settings, arguments: WindowArguments) -> ProvingDesk:
    """Return what the window asks of exemplars that are tried out; that happens in a process of its own."""

    def begun(command: str, database: Path) -> list[str]:
        words = [sys.executable, str(_MAIN), "exemplars", command, "--lines", "--db", str(database)]
        return [*words, "--browser", settings.browser]

    def worth(wanted: WorthWanted, database: Path) -> list[str]:
        words = begun("worth", database)
        words += ["--seeds", ",".join(map(str, wanted.seeds)), "--times", str(wanted.times)]
        words += ["--max-steps", str(session.session.max_steps)]
        words += ["--on-gate", wanted.on_gate or settings.on_gate]
        if wanted.subject.kind == "family":
            words.append("--family")
        elif wanted.subject.kind == "change":
            words += ["--change", f"{wanted.subject.before}:{wanted.subject.after}"]
        for task in wanted.tasks:
            words += ["--task", task]
        words += [*_asked(settings, wanted), *_files(arguments)]
        return [*words, "--", wanted.subject.name]

    def replay(ids: tuple[str, ...], database: Path) -> list[str]:
        words = [*begun("replay", database), "--on-gate", settings.on_gate]
        return [*words, *_files(arguments), "--", *ids]

    return ProvingDesk(session, worth, replay, _apart(settings, ", unless another is chosen"))


def _asked(settings: Settings, wanted: Wanted | WorthWanted) -> list[str]:
    """Return who is asked, and how often at the most, as flags."""
    words: list[str] = []
    for name, value in (
        ("--preset", wanted.preset),
        ("--llm", wanted.llm),
        ("--max-calls", wanted.most_calls),
        ("--max-cost", wanted.most_cost),
        ("--base-url", settings.base_url if settings.base_url_origin == "flag" else ""),
    ):
        if value:
            words += [name, str(value)]
    return words


def _files(arguments: WindowArguments) -> list[str]:
    """Return the files of tasks that the window was started with, as flags."""
    words: list[str] = []
    for path in arguments.task_files:
        words += ["--tasks-file", str(path)]
    for path in arguments.webarena:
        words += ["--webarena", str(path)]
    return words


def _apart(settings: Settings, rule: str = "") -> str:
    where = (
        "an embedded browser of its own, offscreen"
        if settings.browser == "embedded"
        else f"the installed browser {settings.browser}"
    )
    return (
        f"It runs in a process apart, with {where}: the page in this window is not touched. "
        f"Where a person would be asked, the rule is “{settings.on_gate}”{rule}."
    )
