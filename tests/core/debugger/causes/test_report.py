"""The report of a failed run is Markdown, whatever its texts have in them."""

import pytest

from core.debugger.causes.records import Cause, Evidence, Patch
from core.debugger.causes.report import report_of
from core.schema.messages import LLMReply
from core.schema.step import CallRecord
from core.trace.encoding import encode_prompt, encode_reply
from core.trace.store import TraceStore
from tests.core.debugger.evaluations.test_report import Written, store
from tests.core.trace.making import a_request, start, write_step

__all__ = ["store"]

FENCED = "Reply so:\n```\nACTION: stop []\n```\n# Run 7"


def parts(text: str) -> list[str]:
    """Return the lines outside of fences, after checking that each fence ends."""
    found, fence = [], ""
    for line in text.splitlines():
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith("```"):
            fence = line
        else:
            found.append(line)
    assert not fence
    return found


@pytest.mark.parametrize("success", [True, None])
def test_a_run_that_has_no_causes_has_no_heading_for_them(store: TraceStore, success: bool | None) -> None:
    run = Written(store, "own/a").run("own/a", 0, "Save") if success else store.begin_run(start())
    told = report_of(store, store.run(run), ())
    assert told.startswith(f"# Run {run}: ")
    assert "What may have caused it" not in told


def test_no_text_of_the_trace_ends_a_line_or_a_fence_of_the_report(store: TraceStore) -> None:
    run = store.begin_run(start())
    write_step(store, run, 1)
    prompt, (reply, blob) = encode_prompt(a_request(FENCED)), encode_reply(LLMReply(text=FENCED))
    call = CallRecord(
        number=1, step=1, purpose="decide", llm="gpt", messages=prompt.hash, reply=reply, started=1.0
    )
    store.calls.save(run, call, blobs=(*prompt.blobs, blob))
    cause = Cause(
        step=1,
        what="The reply was\n# not an action.",
        why="It had\nno form.",
        evidence=(
            Evidence(step=1, part="reply", text=f"  {FENCED}\n"),
            Evidence(step=0, part="success", run=7, text="took 9 steps"),
        ),
        patch=Patch(file="prompts/x.j2", find=FENCED, put=f"````\n{FENCED}\n````"),
    )
    told = report_of(store, store.run(run), (cause,))
    lines = parts(told)
    assert [line for line in lines if line.startswith("#")] == [
        f"# Run {run}: miniwob/save, seed 3",
        "## Steps",
        "## What may have caused it, the likeliest first",
        "## The prompt of step 1",
        "## The reply",
    ]
    assert "  - step 1, reply: Reply so: ``` ACTION: stop [] ``` # Run 7" in lines
    assert "  - run 7, success: took 9 steps" in lines
    assert f"`````\n````\n{FENCED}\n````\n`````" in told
