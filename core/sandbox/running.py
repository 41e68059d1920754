"""Runs a parser that an LLM wrote on the HTML of a page, apart from everything else.

The forms that the code may have are described in `core.sandbox.inside.program`,
what it may import in `core.sandbox.inside.guards`. Where the system cannot
confine it, it is not run; this is found out by letting code try to get out.
Confinement is the work of the Linux kernel, on x86_64 and aarch64. It needs
no privileges, no user namespaces and no helper program. Elsewhere, and where
the kernel refuses (some containers forbid it), the answer is no, with the
reason.
"""

import asyncio
import platform
import re
import sys
from functools import cache

from core.sandbox.inside.filter import MACHINES
from core.sandbox.process import Confinement, Parsed, ParserProcess, SandboxLimits

_ATTEMPTS = """
import mmap, os, socket, threading

attempts = {
    "read a file": lambda: open(os.devnull).close(),
    "list a folder": lambda: os.listdir("/"),
    "use the network": lambda: socket.socket().close(),
    "start a process": lambda: os.fork() or os._exit(0),
    "start a program": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "send a signal": lambda: os.kill(os.getppid(), 0),
    "start a thread": lambda: threading.Thread(target=int).start(),
    "run machine code": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC).close(),
    "make a pipe": lambda: os.pipe(),
}
done = []
for name, attempt in attempts.items():
    try:
        attempt()
    except (OSError, RuntimeError):
        continue
    done.append(name)
obs = "could " + ", ".join(done) if done else "confined"
"""
_MODULES = ("mmap", "os", "socket", "threading")


def confinement() -> Confinement:
    """Return whether parsers can be confined here, and how or why not.

    Until the answer is yes, or always no on such a system, each call blocks
    for about half a second: it starts a process that tries to read, write,
    connect, fork and so on without success. A no may be a system's that is
    too busy at the moment.
    """
    reason = why_never(sys.platform, platform.machine())
    if not reason and not sys.executable:
        reason = "LLM-written parsers are off: the path of the running Python is not known."
    if reason:
        return Confinement(is_confined=False, reason=reason)
    try:
        return Confinement(is_confined=True, means=_means())
    except _NotConfined as error:
        reason = f"LLM-written parsers are off because they cannot be sandboxed: {error}"
        return Confinement(is_confined=False, reason=reason)


class _NotConfined(Exception):
    pass


@cache
def _means() -> str:
    """Return what confines code that tries to get out; raises _NotConfined with the reason."""
    trial = ParserProcess(_ATTEMPTS, "<p>", limits=SandboxLimits(seconds=20), guarded=False, modules=_MODULES)
    parsed = trial.run()
    if parsed.text == "confined":
        return trial.means
    raise _NotConfined(trial.refusal or parsed.error or f"In the sandbox, code {parsed.text}.")


def why_never(system: str, machine: str) -> str:
    """Return why parsers cannot be confined on such a system at all, or nothing."""
    if not system.startswith("linux"):
        name = {"darwin": "macOS", "win32": "Windows"}.get(system, system)
        return f"LLM-written parsers are off: their sandbox needs Linux, and this is {name}."
    if machine not in MACHINES:
        return (
            f"LLM-written parsers are off: their sandbox supports {' and '.join(MACHINES)}, "
            f"and this machine is {machine or 'unknown'}."
        )
    return ""


_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\n`]*)(?:\n|\Z)", re.MULTILINE)


def code_in(reply: str) -> str:
    """Return the last fenced block of the reply, or all of it if there is none.

    The last, as LLMs that correct themselves do so below what they correct.
    A block whose end is missing (a reply cut short) counts up to the end.
    """
    fences = list(_FENCE.finditer(reply))
    ends = {fence[1]: fence.start() for fence in fences if not fence[2].strip()}
    code, opened = None, None
    for fence in fences:
        if opened is None:
            opened = fence if ends.get(fence[1], -1) > fence.start() else None
        elif fence[1] == opened[1] and not fence[2].strip():
            code, opened = reply[opened.end() : fence.start()], None
    if code is None:
        begun = next((fence.end() for fence in fences if fence[0].endswith("\n")), None)
        return reply.strip() if begun is None else reply[begun:].strip("\n")
    return code.strip("\n")


_DEFAULT = SandboxLimits()


async def run_parser(code: str, html: str, *, task: str = "", limits: SandboxLimits = _DEFAULT) -> Parsed:
    """Return the text that `code` makes of `html`, or an error in one sentence.

    Never raises for what the code does. Cancelling it kills the process
    before the cancellation continues.
    """
    loop = asyncio.get_running_loop()
    confined = await loop.run_in_executor(None, confinement)
    if not confined.is_confined:
        return Parsed(error=confined.reason)
    process = ParserProcess(code, html, task=task, limits=limits)
    result = loop.run_in_executor(None, process.run)
    try:
        return await asyncio.shield(result)
    except asyncio.CancelledError:
        process.stop()
        await asyncio.wait([result])
        raise
