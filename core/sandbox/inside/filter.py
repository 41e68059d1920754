"""The seccomp program: the few system calls a parser needs, and no others.

A parser computes: it needs memory, clocks, locks, randomness, an end, and
one pipe to write its answer into. Everything else is refused with EPERM,
which Python code sees as a PermissionError; a call made in the manner of
another architecture kills the process, as its numbers mean other things.
"""

import errno
import struct
from dataclasses import dataclass

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45
_KILL_PROCESS, _REFUSE, _ALLOW = 0x80000000, 0x00050000 | errno.EPERM, 0x7FFF0000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32_CALLS = 0x40000000

_EXECUTABLE = 0x4
_ANONYMOUS = 0x20
_FUTEX_OPERATION = 0x7F
_HARMLESS_FUTEX = (0, 1, 9, 10)
"""Wait, wake, and both with a bit set: all that locks of one process use."""
_HARMLESS_ADVICE = (4, 8, 14, 15)
"""Not needed, free, huge pages or not. Others can damage memory of the machine when asked by root."""


@dataclass(frozen=True)
class Machine:
    """What differs between architectures: its mark in the kernel, and the numbers of system calls."""

    mark: int
    has_x32: bool
    calls: dict[str, int]

    @property
    def harmless(self) -> tuple[int, ...]:
        """The calls allowed with any arguments."""
        return tuple(self.calls[name] for name in _HARMLESS if name in self.calls)


_HARMLESS = tuple(
    "munmap brk mremap exit exit_group sched_yield nanosleep clock_nanosleep clock_gettime clock_getres "
    "gettimeofday time getpid gettid getrandom rt_sigreturn restart_syscall".split()
)

MACHINES = {
    "x86_64": Machine(
        mark=0xC000003E,
        has_x32=True,
        calls={
            "write": 1,
            "mmap": 9,
            "mprotect": 10,
            "munmap": 11,
            "brk": 12,
            "rt_sigreturn": 15,
            "sched_yield": 24,
            "mremap": 25,
            "madvise": 28,
            "nanosleep": 35,
            "getpid": 39,
            "exit": 60,
            "gettimeofday": 96,
            "capset": 126,
            "gettid": 186,
            "time": 201,
            "futex": 202,
            "restart_syscall": 219,
            "clock_gettime": 228,
            "clock_getres": 229,
            "clock_nanosleep": 230,
            "exit_group": 231,
            "seccomp": 317,
            "getrandom": 318,
            "landlock_create_ruleset": 444,
            "landlock_restrict_self": 446,
        },
    ),
    "aarch64": Machine(
        mark=0xC00000B7,
        has_x32=False,
        calls={
            "write": 64,
            "capset": 91,
            "exit": 93,
            "exit_group": 94,
            "futex": 98,
            "nanosleep": 101,
            "clock_gettime": 113,
            "clock_getres": 114,
            "clock_nanosleep": 115,
            "sched_yield": 124,
            "restart_syscall": 128,
            "rt_sigreturn": 139,
            "gettimeofday": 169,
            "getpid": 172,
            "gettid": 178,
            "brk": 214,
            "munmap": 215,
            "mremap": 216,
            "mmap": 222,
            "mprotect": 226,
            "madvise": 233,
            "seccomp": 277,
            "getrandom": 278,
            "landlock_create_ruleset": 444,
            "landlock_restrict_self": 446,
        },
    ),
}


def program(machine: Machine, answer: int) -> bytes:
    """Return the filter as the kernel's 8-byte instructions; `answer` is the one descriptor to write to."""
    calls = machine.calls
    lines = [
        _line(_LOAD, _ARCHITECTURE_AT),
        _line(_EQUAL, machine.mark, yes=1),
        _line(_RETURN, _KILL_PROCESS),
        _line(_LOAD, _NUMBER_AT),
    ]
    if machine.has_x32:
        lines += [_line(_AT_LEAST, _X32_CALLS, no=1), _line(_RETURN, _KILL_PROCESS)]
    for number in machine.harmless:
        lines += [_line(_EQUAL, number, no=1), _line(_RETURN, _ALLOW)]
    lines += _block(calls["write"], [_argument(0), *_allow_one_of((answer,))])
    lines += _block(calls["mprotect"], [_argument(2), *_refuse_any(_EXECUTABLE), _line(_RETURN, _ALLOW)])
    lines += _block(
        calls["mmap"],
        [
            _argument(2),
            *_refuse_any(_EXECUTABLE),
            _argument(3),
            _line(_ANY_BIT, _ANONYMOUS, yes=1),
            _line(_RETURN, _REFUSE),
            _line(_RETURN, _ALLOW),
        ],
    )
    lines += _block(calls["madvise"], [_argument(2), *_allow_one_of(_HARMLESS_ADVICE)])
    lines += _block(
        calls["futex"], [_argument(1), _line(_AND, _FUTEX_OPERATION), *_allow_one_of(_HARMLESS_FUTEX)]
    )
    lines.append(_line(_RETURN, _REFUSE))
    return b"".join(lines)


def _line(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def _argument(index: int) -> bytes:
    # The kernel reads descriptors, flags and advice as 32 bits, and both machines keep those first.
    return _line(_LOAD, _ARGUMENTS_AT + 8 * index)


def _block(number: int, body: list[bytes]) -> list[bytes]:
    """Return instructions that judge one call; `body` must return on every path."""
    return [_line(_EQUAL, number, no=len(body)), *body]


def _allow_one_of(values: tuple[int, ...]) -> list[bytes]:
    allow = [line for value in values for line in (_line(_EQUAL, value, no=1), _line(_RETURN, _ALLOW))]
    return [*allow, _line(_RETURN, _REFUSE)]


def _refuse_any(bits: int) -> list[bytes]:
    return [_line(_ANY_BIT, bits, no=1), _line(_RETURN, _REFUSE)]
