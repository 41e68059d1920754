"""Write runs in processes of their own."""

import time
from multiprocessing.connection import Connection
from pathlib import Path

from core.schema.errors import TraceError
from core.schema.step import CallRecord
from core.trace.encoding import encode_prompt
from core.trace.store import TraceStore
from tests.core.trace.making import BLOBS, a_request, records, start, write_run


def write_until_killed(channel: Connection, path: Path, *, waits: bool) -> None:
    """Send what has been stored, such as ``act 2``; with `waits` go on after each only when told to."""

    def said(what: str) -> None:
        channel.send(what)
        if waits:
            channel.recv()

    store = TraceStore.open(path)
    run = store.begin_run(start())
    said(f"run {run}")
    for step in range(1, 10_000):
        store.begin_step(run, step)
        said(f"begun {step}")
        prompt = encode_prompt(a_request(f"This is step {step}."))
        call = CallRecord(
            number=step, step=step, purpose="decide", llm="x", messages=prompt.hash, started=time.time()
        )
        store.calls.save(run, call, blobs=prompt.blobs)
        for record in records():
            store.save_phase(run, step, record, blobs=BLOBS if record.phase == "observe" else ())
            said(f"{record.phase} {step}")


def write_a_run_each(channel: Connection) -> None:
    """Open each database that is named, write a run to it, and send what went wrong, or nothing."""
    while True:
        path = channel.recv()
        try:
            store = TraceStore.open(path)
            write_run(store)
            store.close()
            channel.send("")
        except TraceError as error:
            channel.send(str(error))
