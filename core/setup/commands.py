"""Commands of the setup: what they print goes to stderr, and an interrupt waits until they have ended."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.schema.errors import WorldError

_STDERR = 2


class CommandError(WorldError):
    """A command of the setup ended with an error."""


def say(text: str) -> None:
    """Print a line; a terminal that was closed or is narrow does not stop the setup."""
    with contextlib.suppress(OSError, UnicodeEncodeError):
        print(text, file=sys.stderr, flush=True)


def run(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    keep_open: Sequence[int] = (),
) -> None:
    """Run `command` without stdin until it ends; raises CommandError.

    `env` is added to the environment. The files in `keep_open` stay open
    in the command, and so does a lock on them. An interrupt is passed on
    and the end of the command awaited; a second one leaves it behind.
    """
    say(f"$ {shlex.join(command)}")
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=_STDERR,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            pass_fds=tuple(keep_open),
            process_group=0,  # Ctrl-C on the terminal must not hit dpkg halfway.
        )
    except OSError as error:
        raise CommandError(f"{command[0]} cannot start ({error}).") from error
    try:
        code = process.wait()
    except KeyboardInterrupt:
        say(f"Interrupted; waiting for {command[0]} to end.")
        with contextlib.suppress(PermissionError):  # A command under sudo belongs to root: it ends by itself.
            process.send_signal(signal.SIGINT)
        process.wait()
        raise
    if code != 0:
        ended = f"exit code {code}" if code > 0 else f"signal {-code}"
        raise CommandError(f"{shlex.join(command)} failed with {ended}.")


def answer_of(command: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    """Run a command that only looks, and return the result; None if it does not start or answer."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
