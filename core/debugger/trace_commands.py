"""What is stored, as the window asks for it: runs listed and named, steps shown, files written and read."""

import asyncio
from pathlib import Path

from core.debugger.command_queue import CommandQueue
from core.debugger.current import Current
from core.debugger.exporting import exporter as exporting
from core.debugger.exporting import importer as importing
from core.debugger.publisher import Publisher
from core.trace.exports.registry import format_named


class TraceCommands:
    """Commands from any thread, each of which only queues work."""

    def __init__(self, current: Current, publisher: Publisher, commands: CommandQueue) -> None:
        self._current = current
        self._publisher = publisher
        self._commands = commands

    def show_step(self, run: int, number: int) -> None:
        """Show a recorded step; of several asked for in a row the last."""
        self._commands.now(lambda: self._publisher.show_recorded(run, number))

    def show_now(self) -> None:
        """Show the step under way again."""
        self._commands.now(self._publisher.show_now)

    def open_run(self, run: int) -> None:
        """Load the steps of a run into the tree."""
        self._commands.now(lambda: self._publisher.expand(run))

    def search_runs(self, query: str) -> None:
        """List the runs that match the words; all where it is empty."""
        self._commands.now(lambda: self._publisher.send_runs(query))

    def name_run(self, run: int, name: str) -> None:
        """Call a run by a name; an empty one takes it away."""

        def work() -> None:
            self._current.need_services().store.name_run(run, name.strip())
            self._publisher.send_runs(self._publisher.query)

        self._commands.now(work)

    def export_run(self, run: int, form: str, path: str) -> None:
        """Write a run in one of the formats of `core.trace.exports.registry`."""

        async def work() -> None:
            database = self._current.need_services().store.path
            await asyncio.to_thread(exporting.export_run, database, run, form, path)
            self._publisher.log("info", "export", f"Run {run} was written to {path}.")
            note = format_named(form).note
            self._publisher.change(message=f"Run {run} was written to {path}. {note}".rstrip())

        self._commands.post(work)

    def import_run(self, path: str) -> None:
        """Store the run of a repro file, or a recording of another program, and show it."""

        async def work() -> None:
            store = self._current.need_services().store
            run, told = await asyncio.to_thread(importing.import_run, store, Path(path))
            self._publisher.log("info", "import", told)
            self._publisher.send_runs()
            if run is not None and (steps := store.steps(run)):
                self._publisher.expand(run)
                self._publisher.show_recorded(run, steps[0].number)
            self._publisher.change(message=told)

        self._commands.post(work)
