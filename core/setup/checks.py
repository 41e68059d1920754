"""The second command: linters, then the tests, all of them even if one fails."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

_LINTERS = {
    "ruff check": ("ruff", "check", "."),
    "ruff format": ("ruff", "format", "--check", "."),
    "mypy": ("mypy",),
}


def run_checks(root: Path, argv: Sequence[str]) -> int:
    """Run the linters and pytest in `root`; return 0 only when all pass.

    `argv` goes to pytest, without ``--no-lint``, which leaves the linters
    out, and ``--quick``, which leaves out every test that starts a browser or
    another program.
    Of a linter that passes only one line is shown. The tests are shared
    among processes, as many as there are processors, one more with browsers,
    at most four, where `argv` does not say otherwise (``-n 0`` keeps them in
    one). On success the closing line of pytest is
    the last one; after a failure a line naming what failed follows it.
    """
    rest = [word for word in argv if word not in ("--no-lint", "--quick")]
    with_lint = "--no-lint" not in argv
    if "--quick" in argv:
        rest = ["-m", "not browser and not program", *rest]
    failed = [name for name, words in _LINTERS.items() if with_lint and not _passes(root, name, words)]
    # A worker often waits for its browsers, so one more than there are processors keeps these busy.
    waiting = 0 if "--quick" in argv else 1
    if _run_pytest(root, rest, workers=(os.cpu_count() or 1) + waiting) != 0:
        failed.append("pytest")
    if failed:
        print(f"Failed: {', '.join(failed)}.", file=sys.stderr, flush=True)
    return 1 if failed else 0


def _passes(root: Path, name: str, words: Sequence[str]) -> bool:
    began = time.monotonic()
    answer = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    passed = answer.returncode == 0
    if not passed:
        print(answer.stdout.rstrip(), file=sys.stderr)
    said = "ok" if passed else "failed"
    print(f"{name}: {said}, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return passed


def _run_pytest(root: Path, arguments: Sequence[str], *, workers: int) -> int:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    # Each worker and each program that a test starts would compile all modules again.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    # The browsers want memory: there are never more than four.
    environment.setdefault("PYTEST_XDIST_AUTO_NUM_WORKERS", str(min(workers, 4)))
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "worksteal", *arguments]
    return subprocess.run(command, cwd=root, env=environment).returncode
