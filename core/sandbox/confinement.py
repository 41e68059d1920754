"""Whether this system can confine a parser: found out by letting code try to get out.

Confinement is the work of the Linux kernel, on x86_64 and aarch64. It needs
no privileges, no user namespaces and no helper program. Elsewhere, and where
the kernel refuses (some containers forbid it), the answer is no, with the
reason.
"""

import platform
import sys
from functools import cache

from core.sandbox.inside.filter import MACHINES
from core.sandbox.process import ParserProcess
from core.sandbox.records import Confinement, SandboxLimits

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


@cache
def confinement() -> Confinement:
    """Return whether parsers can be confined here, and how or why not.

    The first call starts a process that tries to read, write, connect, fork
    and so on without success, and blocks for about half a second; later
    calls return the same answer.
    """
    reason = why_never(sys.platform, platform.machine())
    if not reason and not sys.executable:
        reason = "LLM-written parsers are off: the Python that runs this program is not known to it."
    if reason:
        return Confinement(is_confined=False, reason=reason)
    trial = ParserProcess(_ATTEMPTS, "<p>", limits=SandboxLimits(seconds=20), guarded=False, modules=_MODULES)
    parsed = trial.run()
    if parsed.text == "confined":
        return Confinement(is_confined=True, means=trial.means)
    found = trial.refusal or parsed.error or f"Code that should have been confined {parsed.text}."
    return Confinement(
        is_confined=False, reason=f"LLM-written parsers are off, as they cannot be confined: {found}"
    )


def why_never(system: str, machine: str) -> str:
    """Return why parsers cannot be confined on such a system at all, or nothing."""
    if not system.startswith("linux"):
        name = {"darwin": "macOS", "win32": "Windows"}.get(system, system)
        return f"LLM-written parsers are off: confining them needs Linux, and this is {name}."
    if machine not in MACHINES:
        return (
            f"LLM-written parsers are off: confining them is known for {' and '.join(MACHINES)}, "
            f"and this machine is {machine or 'unknown'}."
        )
    return ""
