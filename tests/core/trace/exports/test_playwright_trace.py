import functools
import io
import json
import zipfile
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import playwright
import pytest
from playwright.async_api import async_playwright, expect

from core.browser.chromium import chromium_arguments
from core.environments.static_server import LoopbackServer
from core.schema.action import Click, RefTarget
from core.schema.errors import TraceError
from core.schema.events import BrowserEvent
from core.schema.observation import Box
from core.schema.step import Acted, Observed, Reviewed
from core.trace.blobs import hash_of
from core.trace.exports.playwright_trace import Snapshots, export_playwright_trace
from tests.core.stage import need_chromium
from tests.core.trace.exports.replaying import run_by_rules
from tests.core.trace.making import PICTURE, page, start, write_run, write_step

VIEWER = Path(playwright.__file__).parent / "driver" / "package" / "lib" / "vite" / "traceViewer"


class Pages(SimpleHTTPRequestHandler):
    """The viewer that came with Playwright, and one trace beside it."""

    trace = b""

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/run.zip":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/zip")
        self.send_header("Content-Length", str(len(self.trace)))
        self.end_headers()
        self.wfile.write(self.trace)

    def do_HEAD(self) -> None:
        if self.path.partition("?")[0] != "/run.zip":
            super().do_HEAD()
            return
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def viewer():
    handler = type("_Pages", (Pages,), {})
    server = LoopbackServer(
        functools.partial(handler, directory=str(VIEWER)),
        what="the trace viewer",
    )
    yield handler, server
    server.close()


def events_of(data: bytes) -> list[dict]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [json.loads(line) for line in archive.read("trace.trace").decode().splitlines()]


def of_type(data: bytes, kind: str) -> list[dict]:
    return [event for event in events_of(data) if event["type"] == kind]


@pytest.mark.browser
async def test_the_real_viewer_lists_the_actions_and_shows_page_picture_and_log(stage, viewer):
    done = run_by_rules(stage, "miniwob/login-user")
    store = stage.services.store
    handler, server = viewer
    handler.trace = export_playwright_trace(store, done.run)
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=need_chromium(), args=chromium_arguments())
        tab = await browser.new_page()
        await tab.goto(f"{server.origin}/index.html?trace={server.origin}/run.zip")
        titles = tab.locator(".action-title")
        await expect(titles).to_have_count(done.steps)
        shown = [" ".join(text.split()) for text in await titles.all_inner_texts()]
        for step, title in zip(store.steps(done.run), shown, strict=True):
            assert title.startswith(f"{step.number}. {step.action} {step.target}")
        await titles.first.click()
        snapshot = tab.frame_locator("iframe.snapshot-visible")
        await expect(snapshot.locator("#form")).to_contain_text("Username")
        await tab.get_by_role("tab", name="Log").click()
        await expect(tab.get_by_text(store.steps(done.run)[0].thought)).to_be_visible()
        frames = tab.locator(".film-strip-frame")
        await expect(frames.first).to_be_visible()
        await browser.close()


def test_actions_follow_one_another_with_their_times(store):
    data = export_playwright_trace(store, write_run(store, steps=2))
    before, after = of_type(data, "before"), of_type(data, "after")
    assert [one["title"] for one in before] == ['1. click [1] button "Save"', '2. click [1] button "Save"']
    assert [one["callId"] for one in before] == [one["callId"] for one in after]
    for begun, ended in zip(before, after, strict=True):
        assert 0 <= begun["startTime"] <= ended["endTime"]
    (context,) = of_type(data, "context-options")
    assert (context["version"], context["origin"]) == (8, "library")


def test_pictures_are_frames_and_stored_once(store):
    data = export_playwright_trace(store, write_run(store, steps=2))
    frames = of_type(data, "screencast-frame")
    assert {one["sha1"] for one in frames} == {f"{hash_of(PICTURE)}.webp"}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist() == ["trace.trace", "trace.network", f"resources/{hash_of(PICTURE)}.webp"]
        assert archive.read(f"resources/{hash_of(PICTURE)}.webp") == PICTURE
        assert archive.read("trace.network") == b""


def test_a_page_seen_again_is_named_and_not_repeated(store):
    data = export_playwright_trace(store, write_run(store, steps=2))
    snapshots = [one["snapshot"] for one in of_type(data, "frame-snapshot")]
    assert [one["snapshotName"] for one in snapshots] == [
        "before@step@1",
        "input@step@1",
        "after@step@1",
        "before@step@2",
        "input@step@2",
    ]
    first, *others = [one["html"] for one in snapshots]
    assert first[0] == "HTML"
    # Numbered from within: base, head, the word, the button, the body, and then the whole.
    assert others == [[[1, 5]], [[2, 5]], [[3, 5]], [[4, 5]]]


def test_a_snapshot_has_neither_scripts_nor_documents_of_frames():
    html = (
        "<!doctype html><html lang=en><head><title>T</title><script>x</script></head>"
        '<body class="a b" onload="y"><!-- c --><p>One &amp; two</p><noscript>z</noscript></body></html>\n'
        "<html><body>A frame</body></html>"
    )
    assert Snapshots().next("a", html, "https://a.example/") == [
        "HTML",
        {"lang": "en"},
        ["HEAD", {}, ["BASE", {"href": "https://a.example/"}], ["TITLE", {}, "T"]],
        ["BODY", {"class": "a b"}, ["P", {}, "One & two"]],
    ]


def test_a_page_that_is_very_deep_keeps_its_words():
    html = f"<html><body>{'<div>' * 3000}deep<script>x</script>{'</div>' * 3000}</body></html>"
    snapshots = Snapshots()
    page = json.dumps(snapshots.next("a", html, "https://a.example/"))
    assert page.count("DIV") >= 100
    assert "deep" in page
    assert '"x"' not in page
    assert snapshots.next("a", html, "https://a.example/")[0][0] == 1


def test_what_failed_and_what_happened_beside_it_is_reported(store):
    run = store.begin_run(start())
    action = Click(target=RefTarget(ref=1))
    store.begin_step(run, 1)
    for record in (
        Observed(observation=page("Save")),
        Reviewed(origin="person", action=action),
        Acted(
            effect="page action",
            outcome="failed",
            message="It is covered.",
            box=Box(x=0, y=0, width=10, height=10),
            events=(
                BrowserEvent(kind="dialog", text="The page asked."),
                BrowserEvent(kind="crash", text="!"),
            ),
        ),
    ):
        store.save_phase(run, 1, record)
    store.pages.save_event(run, 0, BrowserEvent(kind="console", text="hello"))
    data = export_playwright_trace(store, run)
    (ended,) = of_type(data, "after")
    assert ended["error"] == {"name": "ActionError", "message": "It is covered."}
    assert [(one["messageType"], one["text"]) for one in of_type(data, "console")] == [
        ("log", "hello"),
        ("warning", "dialog: The page asked."),
        ("error", "crash: !"),
    ]
    (point,) = of_type(data, "input")
    assert point["point"] == {"x": 70, "y": 55}
    assert "by: person" in [one["message"] for one in of_type(data, "log")]


def test_a_damaged_picture_or_page_is_left_out(store):
    run = store.begin_run(start())
    write_step(store, run, 1)
    store._database.execute("UPDATE blobs SET data = x'00' WHERE media_type IN ('image/webp', 'text/html')")
    data = export_playwright_trace(store, run)
    assert of_type(data, "screencast-frame") == of_type(data, "frame-snapshot") == []
    assert len(of_type(data, "before")) == 1


def test_the_same_run_is_the_same_file(store):
    run = write_run(store)
    assert export_playwright_trace(store, run) == export_playwright_trace(store, run)


def test_a_run_that_is_not_there_is_refused(store):
    with pytest.raises(TraceError, match="no run 9"):
        export_playwright_trace(store, 9)
