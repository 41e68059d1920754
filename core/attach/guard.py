"""Runs a program and ends it, with all that it has started, when our side of stdin is closed.

It is started as a script of its own and imports nothing of Backstep: however
Backstep ends, the program ends too. On Linux, that includes processes that have
left the program's group or session: they become children of this one. Names of
those that the program has left running go to stderr, one a line; its own output
and errors both go to stdout.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

_SECONDS = 2.0
"""So long a program has for ending in order."""
_LEFT_SECONDS = 1.0
"""So long that what a program has left running may still end by itself, and then in order."""
_LAST_SECONDS = 4.0
"""So long what does not end in order is killed, with what it starts meanwhile."""
_PAUSE = 0.01
_CANNOT_RUN = 126
_BECOME_SUBREAPER = 36
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def main(command: list[str]) -> int:
    """Return the program's exit code, 128 and its number where a signal has ended it."""
    adopts = _adopt_orphans()
    asked, over = threading.Event(), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)):
        # Before there is a program, which would go on without this one.
        signal.signal(number, lambda *_: threading.Thread(target=asked.set, daemon=True).start())
    try:
        program = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True
        )
    except OSError as error:
        print(f"{command[0]} cannot be started: {error.strerror}.", flush=True)
        return _CANNOT_RUN
    threading.Thread(target=_watch, args=(asked,), daemon=True).start()
    threading.Thread(target=_end, args=(program, asked, over), daemon=True).start()
    code = _waited_for(program)
    over.set()
    if adopts:
        left = _end_orphans(at_once=asked.is_set())
        if not asked.is_set():
            sys.stderr.write("".join(f"{name}\n" for name in left))
    _send(program, _KILL)  # To what it has started and left, where nothing is adopted.
    return code if code >= 0 else 128 - code


def _watch(asked: threading.Event) -> None:
    while os.read(0, 4096):
        pass
    asked.set()


def _end(program: "subprocess.Popen[bytes]", asked: threading.Event, over: threading.Event) -> None:
    asked.wait()
    _send(program, signal.SIGTERM)
    if not over.wait(_SECONDS):
        _send(program, _KILL)


def _send(program: "subprocess.Popen[bytes]", number: int) -> None:
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(program.pid, number)
        else:
            program.send_signal(number)


def _waited_for(program: "subprocess.Popen[bytes]") -> int:
    """Return how the program has ended; of adopted processes that end before, nothing is left."""
    if not hasattr(os, "wait"):
        return program.wait()
    while True:
        process, status = os.wait()
        if process == program.pid:
            return os.waitstatus_to_exitcode(status)


# What a program leaves


def _adopt_orphans() -> bool:
    """Become the parent of all descendants that lose theirs; return whether the system can do that."""
    try:
        import ctypes

        return os.path.exists(f"/proc/self/task/{os.getpid()}/children") and bool(
            ctypes.CDLL(None).prctl(_BECOME_SUBREAPER, 1, 0, 0, 0) == 0
        )
    except (ImportError, OSError, AttributeError, TypeError):
        return False  # It is not Linux.


def _end_orphans(*, at_once: bool) -> list[str]:
    """End all children, and theirs as they become ours; return the names of those that did not end by themselves.

    Of a chain of processes that start one another, each has its own.
    """
    if not at_once:
        _reaped_within(_LEFT_SECONDS)
    found: dict[int, str] = {}
    for number, seconds in ((signal.SIGTERM, _LEFT_SECONDS), (_KILL, _LAST_SECONDS)):
        told: set[int] = set()
        end = time.monotonic() + seconds
        while not _reaped_within(0.0) and time.monotonic() < end:
            for process in _children():
                if process not in told or number == _KILL:
                    told.add(process)
                    found.setdefault(process, _name(process))
                    with contextlib.suppress(OSError):
                        os.kill(process, number)
            if number != _KILL:
                time.sleep(_PAUSE)
    return list(filter(None, found.values()))


def _reaped_within(seconds: float) -> bool:
    """Wait for children that end, and return whether none is left."""
    end = time.monotonic() + seconds
    with contextlib.suppress(ChildProcessError):
        while True:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                if time.monotonic() >= end:
                    return False
                time.sleep(_PAUSE)
    return True


def _children() -> Iterator[int]:
    for thread in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{thread}/children", encoding="ascii") as file:
                yield from map(int, file.read().split())
        except FileNotFoundError:
            continue


def _name(process: int) -> str:
    """Return such as ``python server.py``; empty for one that has ended."""
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            words = file.read().decode(errors="replace").split("\0")
    except OSError:
        return ""
    shown = words[:2] if len(words) > 1 and not words[1].startswith("-") else words[:1]
    return " ".join(filter(None, map(os.path.basename, shown)))


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))  # The thread still reads: it must not be waited for.
