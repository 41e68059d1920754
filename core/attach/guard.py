"""Runs a program and ends it, with all that it has started, when our side of stdin is closed.

It is started as a script of its own and imports nothing of Backstep: however
Backstep ends, the program ends too.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading

_SECONDS = 2.0
"""So long a program has for ending in order."""


def main(command: list[str]) -> int:
    """Return the program's exit code, 128 and its number where a signal has ended it."""
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, lambda *_: threading.Thread(target=_end, args=(program,), daemon=True).start())
    threading.Thread(target=_watch, args=(program,), daemon=True).start()
    code = program.wait()
    _send(program, getattr(signal, "SIGKILL", signal.SIGTERM))  # To what it has started and left.
    return code if code >= 0 else 128 - code


def _watch(program: "subprocess.Popen[bytes]") -> None:
    while os.read(0, 4096):
        pass
    _end(program)


def _end(program: "subprocess.Popen[bytes]") -> None:
    _send(program, signal.SIGTERM)
    try:
        program.wait(_SECONDS)
    except subprocess.TimeoutExpired:
        _send(program, getattr(signal, "SIGKILL", signal.SIGTERM))


def _send(program: "subprocess.Popen[bytes]", number: int) -> None:
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(program.pid, number)
        else:
            program.send_signal(number)


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))  # The thread still reads: it must not be waited for.
