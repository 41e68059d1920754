"""The process that runs a family in the background, with its own embedded browser."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import ValidationError

from core.debugger.experiments.job import JobProcess, shared_flags
from core.debugger.fix.family import Family
from core.debugger.fix.views import FixView
from core.debugger.services import Services
from core.schema.errors import UsageError


class FamilyJob:
    """Starts the command ``family`` and passes on its reports; the earlier files are in a temporary folder."""

    def __init__(self) -> None:
        self.process = JobProcess()
        self._folder: Path | None = None

    @property
    def is_busy(self) -> bool:
        return self._folder is not None

    def arguments(
        self, services: Services, view: FixView, count: int, before: Mapping[str, str], *, max_steps: int
    ) -> list[str]:
        """Write the files as they were `before`, and return the command that uses them."""
        assert view.rerun is not None
        self._folder = folder = Path(tempfile.mkdtemp(prefix="backstep-family-"))
        for name, text in before.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        settings = services.settings
        base_url = settings.base_url if settings.base_url_origin == "flag" else ""
        return [
            *("family", str(view.run), "--lines", *shared_flags(services)),
            *("--fixed", str(view.rerun.run), "--count", str(count)),
            *(("--before", str(folder)) if before else ()),
            *("--llm", view.llm, "--max-steps", str(max_steps), "--on-gate", settings.on_gate),
            *(("--base-url", base_url) if base_url else ()),
        ]

    async def run(
        self, arguments: list[str], on_report: Callable[[Family], None], keys: Mapping[str, str]
    ) -> str:
        """Run the command with these keys in its environment; returns why it failed, or nothing."""
        last: Family | None = None

        def read(line: str) -> None:
            nonlocal last
            try:
                last = Family.model_validate_json(line)
            except ValidationError:
                return  # Some other word of the process.
            on_report(last)

        try:
            ended = await self.process.run(arguments, read, keys=keys)
        except OSError as error:
            raise UsageError(
                f"The family could not be run: Backstep's Python cannot be started ({error.strerror})."
            ) from error
        finally:
            folder, self._folder = self._folder, None
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
        if ended.code and not ended.cancelled and (last is None or not last.is_complete):
            return f"The family could not be run: {(last.failure if last else '') or ended.error}"
        return ""

    def cancel(self) -> None:
        """Ask the process to end in order."""
        self.process.cancel()
