"""Logs of pages as they are stored: by step, in parts, and told apart from what was never recorded."""

import json
import zipfile
from io import BytesIO

import pytest

from core.browser.log.records import (
    ConsoleEntry,
    DialogEntry,
    ErrorEntry,
    LogGap,
    LogPart,
    PageLog,
    RequestEntry,
)
from core.trace.database import MIGRATIONS
from core.trace.exports.json_export import export_json
from core.trace.exports.playwright_trace import export_playwright_trace
from core.trace.store import TraceStore
from tests.core.trace.making import open_as, start, write_run, write_step

LOG = PageLog(
    entries=(
        ConsoleEntry(time=1.0, text="nul \x00 \u202e", level="error", place="http://x/a.js:3:7"),
        ErrorEntry(time=2.0, text="TypeError: \ud800"),
        RequestEntry(
            time=3.0,
            method="GET",
            url="http://x/?key=s3cret",
            status=200,
            bytes=7,
            milliseconds=4,
            ended=True,
        ),
        DialogEntry(time=4.0, dialog="confirm", text="sure?", answer="accepted"),
    ),
    left_out=(LogGap(kind="console", count=9500, after=1.0),),
)


@pytest.fixture
def run(store):
    run = store.begin_run(start())
    write_step(store, run, 1)
    write_step(store, run, 2)
    return run


def test_a_log_is_read_as_it_was_stored_in_its_parts(store, run):
    store.pages.save_log(run, 1, "before the action", PageLog())
    store.pages.save_log(run, 1, "in the action", LOG)
    assert store.pages.log(run, 1) == (
        LogPart(moment="before the action", log=PageLog()),
        LogPart(moment="in the action", log=LOG),
    )
    assert store.pages.log(run, 2) is None


def test_a_branch_has_the_logs_of_the_steps_before_it(store, run):
    store.pages.save_log(run, 1, "in the action", LOG)
    branch = store.begin_run(start().replace(parent_run=run, parent_step=2))
    write_step(store, branch, 2)
    assert store.pages.log(branch, 1) == store.pages.log(run, 1)
    assert store.pages.log(branch, 2) is None


def test_a_file_of_the_version_before_comes_to_have_room_for_them(path):
    store = open_as(path, MIGRATIONS[:4])
    run = write_run(store)
    store.close()
    store = TraceStore.open(path)
    assert store.pages.log(run, 1) is None
    assert all(phase.begun is None for phase in store.times(run)[0].phases)
    store.pages.save_log(run, 1, "in the action", LOG)
    assert store.pages.log(run, 1)
    store.close()


def test_when_a_phase_began_is_kept_and_replaced_with_it(store, run):
    record = store.step(run, 1).records[0]
    store.save_phase(run, 1, record, begun=5.0)
    store.save_phase(run, 1, record, begun=6.0)
    begun = {phase.phase: phase.begun for phase in store.times(run)[0].phases if phase.begun is not None}
    assert begun == {"observe": 6.0}


def test_the_exported_json_has_them_and_null_where_there_are_none(store, run):
    store.pages.save_log(run, 1, "in the action", LOG)
    first, second = json.loads(export_json(store, run))["steps"]
    (part,) = first["page_log"]
    assert part["moment"] == "in the action"
    assert part["log"]["entries"][2]["url"] == "http://x/?key=s3cret"
    assert second["page_log"] is None


def test_the_playwright_trace_has_console_and_requests(store, run):
    store.pages.save_log(run, 1, "in the action", LOG)
    with zipfile.ZipFile(BytesIO(export_playwright_trace(store, run))) as archive:
        events = [json.loads(line) for line in archive.read("trace.trace").splitlines()]
        (asked,) = [json.loads(line)["snapshot"] for line in archive.read("trace.network").splitlines()]
    logged = [(one["messageType"], one["text"]) for one in events if one["type"] == "console"]
    assert logged == [
        ("error", "nul \x00 \u202e"),
        ("error", "TypeError: \ud800"),
        ("warning", "confirm: sure? (accepted)"),
    ]
    line = next(one for one in events if one["type"] == "console")
    assert line["location"] == {"url": "http://x/a.js", "lineNumber": 2, "columnNumber": 6}
    assert asked["request"]["url"] == "http://x/?key=s3cret"
    assert asked["response"]["status"] == 200
