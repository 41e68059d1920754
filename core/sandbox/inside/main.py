"""The process of one parser: reads what to do, confines itself, runs the code, answers, ends.

It is started for one run, with an empty environment, and imports nothing of
the program but its neighbours here. It reads a request from descriptor 0 up
to its end and writes to descriptor 1: a line that begins with "R" and says
what confines it, once it is confined and before foreign code has run, and
then one letter and a text: "T" for the parser's text, "E" for an error. An
"F" instead of the "R" says why it cannot be confined or started.

Whatever follows the "R" may have been written by the code itself: the reader
must take it for a text of limited length and no more.
"""

import contextlib
import json
import os
import sys
from typing import Any, NoReturn

from core.sandbox.inside import guards, kernel, program

_ANSWER = 1


class _Nowhere:
    """Takes the place of the standard streams: swallows what is printed and has nothing to read."""

    encoding = "utf-8"
    errors = "replace"
    closed = False

    def write(self, text: str) -> int:
        return len(text)

    def writelines(self, lines: object) -> None:
        pass

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False

    def read(self, size: int = -1) -> str:
        return ""

    readline = read


def main() -> NoReturn:
    """Serve one request and end the process."""
    request: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    kernel.end_with(request["parent"])
    try:
        guards.load_all(request["modules"])
        os.environ.clear()
        _leave_no_folder()
        means = kernel.confine(answer=_ANSWER, seconds=request["seconds"], memory=request["memory"])
    except kernel.KernelRefused as error:
        _end("F", f"The system refuses {error}.")
    except Exception as error:
        _end("F", f"The process for parsers could not be prepared ({type(error).__name__}: {error}).")
    _write(f"R{means}\n".encode())
    sys.stdin = sys.stdout = sys.stderr = sys.__stdin__ = sys.__stdout__ = sys.__stderr__ = _Nowhere()  # type: ignore[assignment,misc]
    # Made before, as there may be no memory left for it then.
    too_much = f"EThe code needed more than {request['memory'] // 2**20} MiB of memory.".encode()
    try:
        builtins = guards.put_up() if request["guarded"] else vars(sys.modules["builtins"])
        text = program.run(request["code"], request["html"], request["task"], builtins)
        written = text.encode("utf-8", "replace")
        if len(written) > request["output"]:
            raise program.Unusable(
                f"The code returned {len(written)} bytes of text, but only {request['output']} are allowed."
            )
    except MemoryError:
        os.write(_ANSWER, too_much)
    except BaseException as error:
        _write(b"E" + _sentence(error).encode("utf-8", "replace"))
    else:
        _write(b"T" + written)
    os._exit(0)


def _leave_no_folder() -> None:
    """Remove the empty folder this process was started in, so that it is nowhere and leaves nothing."""
    with contextlib.suppress(OSError):
        os.rmdir(os.getcwd())


def _sentence(error: BaseException) -> str:
    try:
        return program.sentence_of(error)
    except BaseException:
        return "The code failed with an error that cannot be shown."


def _end(kind: str, sentence: str) -> NoReturn:
    _write((kind + sentence).encode("utf-8", "replace"))
    os._exit(0)


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(_ANSWER, view) :]
