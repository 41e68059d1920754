"""Backstep: the only place that joins core and gui."""

import importlib
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from core.setup import ensure, import_failed

if __name__ == "__main__":
    ensure(sys.argv)

if TYPE_CHECKING:
    from core.browser.host import BrowserHost
    from core.cli.window import WindowArguments
    from core.debugger.headless import RunReport
    from core.debugger.session import Session
    from core.settings.settings import Settings
    from gui.application import Desks


def open_window(arguments: "WindowArguments", settings: "Settings") -> int:
    """Open the window and return its exit code when it closes."""
    # Two heavy imports side by side: Qt loads its libraries while the session's modules are read.
    session_modules = threading.Thread(target=importlib.import_module, args=("core.cli.window",))
    session_modules.start()
    from gui.application import Application

    application = Application(
        theme=settings.theme, accept_dialogs=settings.dialogs == "accept", profiles=_profiles()
    )
    session_modules.join()
    from core.cli.window import make_session

    session = make_session(settings, application.host, arguments)
    return application.show_window(session, desks_of(session, settings, arguments), arguments)


def desks_of(session: "Session", settings: "Settings", arguments: "WindowArguments") -> "Desks":
    """Return what the parts of the window ask of a session."""
    from core.cli.window import (
        make_analysis_desk,
        make_ask_desk,
        make_bisect_desk,
        make_break_desk,
        make_compare_desk,
        make_desk,
        make_editor_desk,
        make_fork_desk,
        make_keep_desk,
        make_library_desk,
        make_proving_desk,
        make_reading_desk,
        make_record_desk,
        make_task_desk,
    )
    from gui.application import Desks
    from gui.features.exemplar_desks import ExemplarDesks

    return Desks(
        llms=make_desk(session, settings),
        tasks=make_task_desk(session),
        breaks=make_break_desk(session),
        asks=make_ask_desk(session),
        compares=make_compare_desk(session),
        diffs=make_compare_desk(session),
        reading=make_reading_desk(session),
        forks=make_fork_desk(session),
        bisects=make_bisect_desk(session, settings, arguments),
        exemplars=ExemplarDesks(
            library=make_library_desk(session),
            editor=make_editor_desk(session),
            analyses=make_analysis_desk(session),
            proving=make_proving_desk(session, settings, arguments),
            keeps=make_keep_desk(session),
            records=make_record_desk(session),
        ),
    )


def with_embedded(work: "Callable[[BrowserHost], Awaitable[RunReport]]", settings: "Settings") -> "RunReport":
    """Give the embedded browser, offscreen, to a piece of work."""
    from gui.live.offscreen import run_offscreen

    return run_offscreen(work, accept_dialogs=settings.dialogs == "accept", profiles=_profiles())


def _profiles() -> str:
    """Return the folder of the embedded browser's named profiles, which keep logins."""
    from core.settings.settings import data_folder

    return str(data_folder() / "profiles")


def entry() -> None:
    """Run the command line; an error that a user can mend is one sentence and an exit code."""
    try:
        from core.cli.app import make_app, run_app

        code = run_app(make_app(open_window=open_window, with_embedded=with_embedded))
    except ImportError as error:
        # A package that has gone, or a shared library that Qt wants.
        import_failed(error, sys.argv)
    sys.exit(code)


if __name__ == "__main__":
    entry()
