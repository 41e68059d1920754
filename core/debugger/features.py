"""The table of the debugger's features, which main.py, the window and the tests read.

A feature is a folder of the same name in `core.debugger` and in `gui`. In core its
`service.py` has `make_service(session)`; in gui its `controller.py` has
`install(window, service)`, and `commands.py` has its window commands, if there are any. To add
one: the two folders, and one line here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.debugger.session import Session

FEATURES = (
    "palette",
    "tasks",
    "attach",
    "llms",
    "editing",
    "breakpoints",
    "provenance",
    "timeline",
    "compare",
    "ask_again",
    "branching",
    "fix",
    "evaluations",
    "exemplars",
    "background_work",
)
"""In the order in which the window installs them."""


class Features:
    """The services of a session, by the name of their feature; each is loaded and created at its first use."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._services: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Return what the feature's `make_service` returns, the same object each time."""
        if name not in self._services:
            module = import_module(f"core.debugger.{name}.service")
            self._services[name] = module.make_service(self._session)
        return self._services[name]
