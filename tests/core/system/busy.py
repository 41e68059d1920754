"""Processes that compute, to see what others do on a busy machine."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_COMPUTE = """
import os, sys
processor, test = map(int, sys.argv[1:])
if processor >= 0:
    os.sched_setaffinity(0, {processor})
if os.fork():  # A child of ours would count as one of our own processes.
    os._exit(0)
os.setsid()  # Linux may share processors out by session.
print(os.getpid(), flush=True)
os.close(1)
while os.path.exists(f"/proc/{test}"):
    sum(range(1_000_000))
"""


@contextmanager
def busy(processes: int, processor: int | None = None) -> Iterator[None]:
    """Keep so many processes computing, on one processor or wherever the system puts them."""
    started: list[int] = []
    try:
        for _ in range(processes):
            command = [
                sys.executable,
                "-c",
                _COMPUTE,
                str(-1 if processor is None else processor),
                str(os.getpid()),
            ]
            started.append(int(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))
        yield
    finally:
        for one in started:
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
