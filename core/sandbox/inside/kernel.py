"""Asks Linux to sandbox this process permanently, whatever code it runs afterwards.

The seccomp filter is what holds. Landlock, the dropped privileges and the
resource limits would each have to be passed too, should it have a hole.
"""

import contextlib
import ctypes
import os
import platform
import resource
import signal

from core.sandbox.inside.filter import MACHINES, Machine, program

_SET_PARENT_DEATH_SIGNAL, _SET_DUMPABLE, _SET_NO_NEW_PRIVILEGES = 1, 4, 38
_FILTER_MODE, _ALL_THREADS = 1, 1
_CAPABILITY_VERSION = 0x20080522
_LANDLOCK_VERSION = 1
_MOST_DESCRIPTORS = 65536


class KernelRefused(Exception):
    """The kernel did not confine this process; the text says which call failed, and why."""


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64)]


def end_with(parent: int) -> None:
    """Have this process killed when `parent` ends, now if it has ended already."""
    _prctl(_libc(), "the end together with its parent", _SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def confine(*, answer: int, seconds: float, memory: int) -> str:
    """Confine this process to computing and to writing into the descriptor `answer`.

    Returns what confines it, in words. Raises KernelRefused if the kernel does
    not do it; the process must not run foreign code then.
    """
    libc = _libc()
    machine = MACHINES[platform.machine()]
    _close_all_but(answer)
    _prctl(libc, "no core dumps and no debuggers", _SET_DUMPABLE, 0)
    _prctl(libc, "no new privileges", _SET_NO_NEW_PRIVILEGES, 1)
    landlock = _restrict_by_landlock(libc, machine)
    _drop_capabilities(libc, machine)
    _set_resource_limits(seconds, memory)
    _install(libc, machine, program(machine, answer))
    _try_out()
    return ", ".join(filter(None, ("seccomp filter", landlock, "resource limits")))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _prctl(libc: ctypes.CDLL, what: str, option: int, value: int) -> None:
    zero = ctypes.c_ulong(0)
    if libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero) != 0:
        raise KernelRefused(f"{what} (prctl {option}: {os.strerror(ctypes.get_errno())})")


def _call(libc: ctypes.CDLL, number: int, *arguments: object) -> int:
    return int(libc.syscall(ctypes.c_long(number), *arguments))


def _close_all_but(kept: int) -> None:
    os.closerange(0, kept)
    os.closerange(kept + 1, _MOST_DESCRIPTORS)


def _restrict_by_landlock(libc: ctypes.CDLL, machine: Machine) -> str:
    """Forbid all files, ports and foreign processes that this kernel's Landlock knows; "" without one."""
    create, restrict = (
        machine.calls["landlock_create_ruleset"],
        machine.calls["landlock_restrict_self"],
    )
    version = _call(libc, create, None, ctypes.c_size_t(0), ctypes.c_uint32(_LANDLOCK_VERSION))
    if version < 1:
        return ""
    files = 13 if version < 2 else 14 if version < 3 else 15 if version < 5 else 16
    ruleset = _Ruleset((1 << files) - 1, 0b11 if version >= 4 else 0, 0b11 if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    descriptor = _call(libc, create, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if descriptor < 0:
        return ""
    is_restricted = _call(libc, restrict, ctypes.c_int(descriptor), ctypes.c_uint32(0)) == 0
    os.close(descriptor)
    return f"Landlock {version}" if is_restricted else ""


def _drop_capabilities(libc: ctypes.CDLL, machine: Machine) -> None:
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if _call(libc, machine.calls["capset"], header, nothing) != 0:
        raise KernelRefused(f"no privileges (capset: {os.strerror(ctypes.get_errno())})")


def _set_resource_limits(seconds: float, memory: int) -> None:
    limits = {
        resource.RLIMIT_AS: memory,
        # The parent ends the run by the clock; this is for a parent that is stopped itself.
        resource.RLIMIT_CPU: int(seconds) + 2,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_NOFILE: 0,
    }
    for which, wanted in limits.items():
        _, hard = resource.getrlimit(which)
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(which, (value, value))


def _install(libc: ctypes.CDLL, machine: Machine, instructions: bytes) -> None:
    filtered = _Program(len(instructions) // 8, instructions)
    number = machine.calls["seccomp"]
    done = _call(
        libc, number, ctypes.c_uint(_FILTER_MODE), ctypes.c_uint(_ALL_THREADS), ctypes.byref(filtered)
    )
    if done != 0:
        raise KernelRefused(f"a filter of system calls (seccomp: {os.strerror(ctypes.get_errno())})")


def _try_out() -> None:
    with contextlib.suppress(PermissionError):
        os.getcwd()
        raise KernelRefused("a filter of system calls (it was taken but does not filter)")
