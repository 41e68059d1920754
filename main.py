"""Backstep: the only place that joins core and gui."""

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from core.setup import EXIT_INTERRUPTED, ensure, import_failed

if __name__ == "__main__":
    ensure(sys.argv)

if TYPE_CHECKING:
    from core.browser.host import BrowserHost
    from core.cli.window_arguments import WindowArguments
    from core.debugger.headless import RunReport
    from core.debugger.session import Session
    from core.settings.settings import Settings


def open_window(arguments: "WindowArguments", settings: "Settings") -> int:
    """Open the window and return its exit code when it closes."""
    from gui.first_import import import_qt

    # Until the window is there: an interrupt of an import would pass for a package that is missing.
    signal.signal(signal.SIGINT, lambda *_: os._exit(EXIT_INTERRUPTED))
    gc.disable()  # The application collects garbage, once it has started.
    import_qt()
    from core.browser.driver_process import begin_driver
    from core.debugger.worker import Worker

    # The driver's process starts beside all that is loaded from here on.
    worker = Worker()
    worker.start()
    worker.post(begin_driver())
    from gui.application import Application

    application = Application(
        theme=settings.theme,
        accept_dialogs=settings.dialogs == "accept",
        profiles=_profiles(),
        allowed_profiles=settings.embedded_profiles,
    )

    def make() -> "Session":
        from core.cli.window import make_session

        return make_session(settings, application.host, application.screen, arguments, worker)

    return application.show_window(make, worker, arguments, embedded=settings.browser == "embedded")


def with_embedded(work: "Callable[[BrowserHost], Awaitable[RunReport]]", settings: "Settings") -> "RunReport":
    """Give the embedded browser, offscreen, to a piece of work."""
    from gui.live.engine import run_offscreen

    return run_offscreen(
        work,
        accept_dialogs=settings.dialogs == "accept",
        profiles=_profiles(),
        allowed_profiles=settings.embedded_profiles,
    )


def _profiles() -> str:
    """Return the folder of the embedded browser's named profiles, which keep logins."""
    from core.settings.settings import data_folder

    return str(data_folder() / "profiles")


def entry() -> None:
    """Run the command line; an error that a user can mend is one sentence and an exit code."""
    # What is imported stays: looking for garbage in it would take a tenth of the start.
    gc.set_threshold(20_000)
    try:
        from core.cli.app import make_app, run_app
        from core.system.temp_folder import begin_temp_folder

        if sys.argv[1:2] != ["test"]:  # What a test leaves is to be looked at.
            with contextlib.suppress(OSError):  # What cannot be written there is told where it is written.
                begin_temp_folder()
        code = run_app(make_app(open_window=open_window, with_embedded=with_embedded))
    except ImportError as error:
        # A package that has gone, or a shared library that Qt wants.
        import_failed(error, sys.argv)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    entry()
