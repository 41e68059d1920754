"""The output of the setup: lines on stderr, one progress line while a command runs, the rest in a log."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from core.schema.errors import WorldError

_LOOK_SECONDS = 0.2
_SPARSE_SECONDS = 30.0
_SHOWN_CHARACTERS = 100


class CommandError(WorldError):
    """A command of the setup ended with an error; `tail` has its last lines."""

    def __init__(self, message: str, tail: str) -> None:
        super().__init__(message)
        self.tail = tail


class Console:
    """Prints to `stream`; on a terminal the progress line is overwritten in place.

    The output of commands goes straight into the log file, not through a
    pipe: a command outlives this program when that is killed, and ends its
    work instead of dying in the middle of an installation.
    """

    def __init__(self, log: Path, stream: TextIO | None = None) -> None:
        self.log = log
        self._stream = stream if stream is not None else sys.stderr
        self._is_terminal = self._stream.isatty()

    def say(self, text: str) -> None:
        self._write(text + "\n")

    def run(
        self,
        command: Sequence[str],
        *,
        label: str,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        keep_open: Sequence[int] = (),
    ) -> None:
        """Run `command` without stdin until it ends; raises CommandError.

        `env` is added to the environment. The files in `keep_open` stay open
        in the command, and so does a lock on them. An interrupt is passed on
        and the end of the command awaited; a second one leaves it behind.
        """
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as sink:
            sink.write(f"\n$ {shlex.join(command)}\n".encode())
            sink.flush()
            start = sink.tell()
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=sink,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **(env or {})},
                    cwd=cwd,
                    pass_fds=tuple(keep_open),
                    # Ctrl-C on the terminal must not hit dpkg halfway; see _pass_on_interrupt.
                    process_group=0 if os.name == "posix" else None,
                )
            except OSError as error:
                raise CommandError(f"{label}: {command[0]} cannot start ({error}).", "") from error
        try:
            code = self._watch(process, label, start)
        except KeyboardInterrupt:
            self._pass_on_interrupt(process, label)
            raise
        if code != 0:
            ended = f"exit code {code}" if code > 0 else f"signal {-code}"
            raise CommandError(f"{label}: {shlex.join(command)} failed with {ended}.", self._tail(start))

    def _watch(self, process: subprocess.Popen[bytes], label: str, start: int) -> int:
        """Show what the command does until it ends; return its exit code."""
        began = spoke = time.monotonic()
        if not self._is_terminal:
            self.say(f"  {label} …")
        while True:
            try:
                code = process.wait(_LOOK_SECONDS)
                break
            except subprocess.TimeoutExpired:
                now = time.monotonic()
                last = self._tail(start).rpartition("\n")[2].strip()
                line = f"  {label}, {now - began:.0f} s: {last[:_SHOWN_CHARACTERS]}"
                if self._is_terminal:
                    self._write("\r\x1b[K" + line[: shutil.get_terminal_size().columns - 1])
                elif now - spoke > _SPARSE_SECONDS:
                    spoke = now
                    self.say(line)
        if self._is_terminal:
            self._write("\r\x1b[K")
        if code == 0:
            self.say(f"  {label}: done, {time.monotonic() - began:.0f} s")
        return code

    def _pass_on_interrupt(self, process: subprocess.Popen[bytes], label: str) -> None:
        self.say(f"  Interrupted; waiting for {label} to end.")
        try:
            process.send_signal(signal.SIGINT)
        except PermissionError:
            pass  # a command under sudo belongs to root: it ends by itself
        process.wait()

    def _tail(self, start: int, size: int = 4000) -> str:
        """Return the end of what was logged since `start`, without empty lines."""
        try:
            with self.log.open("rb") as log:
                log.seek(max(start, log.seek(0, os.SEEK_END) - size))
                text = log.read().decode(errors="replace")
        except OSError:
            return ""
        return "\n".join(line for line in text.splitlines() if line.strip())

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, UnicodeEncodeError):
            pass  # a closed or narrow terminal must not stop the setup


def last_lines(text: str, count: int = 12) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines()[-count:])


def answer_of(command: Sequence[str]) -> subprocess.CompletedProcess[str] | None:
    """Run a command that only looks, and return the result; None if it does not start or answer."""
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
