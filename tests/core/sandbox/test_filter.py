"""The seccomp programs of both machines, walked by the rules of the kernel's own interpreter."""

import struct

import pytest

from core.sandbox.inside.filter import MACHINES, program

ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050001, 0x80000000
ANSWER = 1


def judge(machine: str, number: int, *arguments: int, mark: int | None = None) -> int:
    """Return what the filter says to a system call."""
    known = MACHINES[machine]
    padded = (*arguments, *[0] * (6 - len(arguments)))
    data = struct.pack("=IIQ6Q", number, known.mark if mark is None else mark, 0, *padded)
    lines = list(struct.iter_unpack("=HBBI", program(known, ANSWER)))
    at, value = 0, 0
    while True:
        code, yes, no, constant = lines[at]
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("=I", data, constant)
        elif code == 0x54:
            value &= constant
        elif code == 0x06:
            return constant
        else:
            holds = {0x15: value == constant, 0x35: value >= constant, 0x45: bool(value & constant)}[code]
            at += yes if holds else no


@pytest.fixture(params=sorted(MACHINES))
def machine(request):
    return request.param


def call(machine: str, name: str, *arguments: int) -> int:
    return judge(machine, MACHINES[machine].calls[name], *arguments)


def test_no_call_is_allowed_but_the_listed_ones(machine):
    known = MACHINES[machine]
    with_arguments = {known.calls[name] for name in ("write", "mmap", "mprotect", "madvise", "futex")}
    allowed = {number for number in range(1024) if judge(machine, number) == ALLOW}
    assert allowed - with_arguments == set(known.harmless)


def test_only_the_answer_may_be_written_to(machine):
    assert call(machine, "write", ANSWER) == ALLOW
    assert [call(machine, "write", other) for other in (0, 2, 3, 1000, 0xFFFFFFFF)] == [REFUSE] * 5


def test_memory_may_be_had_but_never_run_and_never_from_a_file(machine):
    assert call(machine, "mmap", 0, 4096, 0x3, 0x22) == ALLOW
    assert call(machine, "mmap", 0, 4096, 0x7, 0x22) == REFUSE
    assert call(machine, "mmap", 0, 4096, 0x4, 0x22) == REFUSE
    assert call(machine, "mmap", 0, 4096, 0x1, 0x02, 3) == REFUSE
    assert call(machine, "mprotect", 0, 4096, 0x3) == ALLOW
    assert call(machine, "mprotect", 0, 4096, 0x5) == REFUSE


def test_memory_of_the_machine_cannot_be_marked_as_broken(machine):
    assert call(machine, "madvise", 0, 4096, 4) == ALLOW
    assert [call(machine, "madvise", 0, 4096, advice) for advice in (100, 101)] == [REFUSE] * 2


def test_locks_work_and_rarer_uses_of_them_do_not(machine):
    private = 128
    assert [call(machine, "futex", 0, operation | private) for operation in (0, 1, 9, 10)] == [ALLOW] * 4
    assert [call(machine, "futex", 0, operation) for operation in (2, 3, 4, 5, 6, 11, 12)] == [REFUSE] * 7


def test_a_call_marked_with_another_architecture_kills(machine):
    getpid = MACHINES[machine].calls["getpid"]
    assert judge(machine, getpid) == ALLOW
    assert judge(machine, getpid, mark=0x40000003) == KILL


def test_calls_of_the_short_pointer_kind_kill_on_x86():
    assert judge("x86_64", 0x40000000 + MACHINES["x86_64"].calls["getpid"]) == KILL


def test_jumps_fit_the_bytes_they_have(machine):
    lines = list(struct.iter_unpack("=HBBI", program(MACHINES[machine], ANSWER)))
    assert lines[-1][0] == 0x06
    assert all(
        index + 1 + max(line[1], line[2]) < len(lines) for index, line in enumerate(lines) if line[0] & 5 == 5
    )
