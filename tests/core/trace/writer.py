"""A program that writes runs until it is killed: ``python -m tests.core.trace.writer DATABASE WAY``.

It says on stdout what it has stored, a line each. Way ``stepwise`` waits for a
line on stdin after each; way ``hurried`` does not wait.
"""

import sys
import time
from pathlib import Path

from core.schema.step import CallRecord
from core.trace.encoding import encode_prompt
from core.trace.store import TraceStore
from tests.core.trace.making import BLOBS, a_request, records, start


def main() -> None:
    path, way = Path(sys.argv[1]), sys.argv[2]

    def said(what: str) -> None:
        print(what, flush=True)
        if way == "stepwise":
            sys.stdin.readline()

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
        store.save_call(run, call, blobs=prompt.blobs)
        for record in records():
            store.save_phase(run, step, record, blobs=BLOBS if record.phase == "observe" else ())
            said(f"{record.phase} {step}")


if __name__ == "__main__":
    main()
