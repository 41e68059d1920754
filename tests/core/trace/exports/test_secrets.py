"""What is secret in a run of a real page is in no export of it, nor in the trace."""

import contextlib
import io
import json
import re
import sqlite3
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from core.trace.exports.hiding import without_secrets
from core.trace.exports.registry import FORMATS, format_named
from core.trace.store import TraceStore
from tests.core.stage import on, stop
from tests.llm_server import LLMServer

pytestmark = pytest.mark.browser

TYPED = {
    "Password": "Tr0ub4dor&3",
    "New password": 'qu"ote<d>-2',
    "Shown password": "sesame99open",
    "Code": "493817",
    "Card": "4111111111111111",
    "API key": "zq81-kk20-aa77",
}
SERVED = {
    "cookie": "c00kie9f8e7d",
    "access_token": "acc-55aa66bb77",
    "refreshToken": "ref-99ee88dd",
    "csrf": "csrf-4242aa",
    "parameter": "par-31415926",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_def-9",
    "stored": "st0red-token-77",
}
PAGE = f"""<!doctype html><title>Log in</title><meta name="csrf-token" content="{SERVED["csrf"]}">
<form onsubmit="return false">
<label>Password <input type=password></label>
<label>New password <input autocomplete="section-a new-password webauthn"></label>
<label>Shown password <input type=password onclick="this.type='text'" oninput="mirror(this)"></label>
<label>Code <input autocomplete=one-time-code></label>
<label>Card <input autocomplete="billing cc-number" inputmode=numeric></label>
<label>API key <input name="account[apiKey]"></label>
<label>City <input name=city></label>
<button onclick="send()">Send</button></form><p id=said></p><script>
const labels = [...document.querySelectorAll("label")];
const value = name => labels.find(one => one.textContent.trim() === name).querySelector("input").value;
const mirror = field => field.setAttribute("value", field.value);
async function send() {{
  const names = {json.dumps(list(TYPED))};
  const answer = await (await fetch("/session?access_token={SERVED["parameter"]}", {{ method: "POST",
    headers: {{ authorization: "Basic " + btoa("ann:" + value("Password")) }},
    body: JSON.stringify(Object.fromEntries(names.map(one => [one, value(one)]))) }})).json();
  localStorage.setItem("authToken", "{SERVED["stored"]}");
  console.log("sent " + names.map(value).join(" "), JSON.stringify(answer));
  history.replaceState(null, "", "/done?password=" + encodeURIComponent(value("Password")) + "&id_token=" + answer.jwt);
  said.textContent = "You sent " + names.map(value).join(" ") + " and got " + answer.jwt + " " + answer.access_token;
}}
</script>"""


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer(
            PAGE.encode(), "text/html; charset=utf-8", [("Set-Cookie", f"sid={SERVED['cookie']}; Path=/")]
        )

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        inner = json.dumps({"refreshToken": SERVED["refreshToken"]})
        whole = {name: SERVED[name] for name in ("access_token", "jwt")}
        whole |= {"inner": inner, "cvv": "987", "user": "ann-7"}
        self.answer(json.dumps(whole).encode(), "application/json", [])

    def answer(self, body, kind, headers):
        self.send_response(200)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *given):
        pass


@pytest.fixture(scope="module")
def site():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def run(whole_stage, site):
    """A run that typed and was sent each of them; the instruction and a thought have the password, too."""
    secret = TYPED["Password"]
    with LLMServer() as server:
        run = whole_stage.open(server, url=site, instruction=f'Log in with "{secret}".')
        for name, text in TYPED.items():
            server.script(on(f'textbox "{name}"', "type", thought=f"I type {text}.", text=text))
        server.script(
            on('textbox "City"', "type", text="Oslo-Vest 7"), on('button "Send"'), stop(f"I sent {secret}")
        )
        whole_stage.to_the_end(run)
        whole_stage.clear()
    return run


def texts_of(data: bytes) -> bytes:
    """Return the bytes of a file with what is packed in it."""
    whole = [data]
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            whole += [archive.read(name) for name in archive.namelist()]
    if data.startswith(b"SQLite"):
        with contextlib.closing(TraceStore.of_content(data)) as store:
            ids = [row["id"] for row in store._database.rows("SELECT id FROM blobs")]
            whole += [store._database.blobs.content(id) for id in ids]
            rows = [
                store._database.rows(f"SELECT * FROM {one}") for one in ("runs", "steps", "exchanges", "log")
            ]
            whole.append(repr(rows).encode())
            numbers = [one.number for one in store.steps(1)]
            whole += [repr(store.step(1, number).records).encode() for number in numbers]
    return b"\n".join(whole)


def found_in(data: bytes) -> list[str]:
    ways = (str, lambda one: json.dumps(one)[1:-1], lambda one: json.dumps(json.dumps(one)[1:-1])[1:-1])
    values = {**TYPED, **SERVED}
    # A few digits are in some time or id by chance.
    own = (re.escape(way(value).encode()) for value in values.values() for way in ways)
    found = {
        value for pattern in own for value in re.findall(rb"(?<![0-9a-f])" + pattern + rb"(?![0-9a-f])", data)
    }
    return [name for name, value in values.items() if any(way(value).encode() in found for way in ways)]


def test_no_export_has_any_of_them_and_each_says_what_it_left_out(stage, run):
    store, number = stage.services.store, run.state.run
    with without_secrets(store, number) as hidden:
        told = hidden.left_out
        exported = {form.name: form.write(hidden, number) for form in FORMATS}
        exported["otel"] = format_named("otel").write(hidden, number, content=True)
    found = {name: found_in(texts_of(data)) for name, data in exported.items()}
    assert found == {name: [] for name in exported}
    assert "3 passwords" in told
    assert "1 card number" in told
    assert "1 one-time code" in told
    silent = [
        name for name, data in exported.items() if told.encode() not in b" ".join(texts_of(data).split())
    ]
    assert silent == []
    for kept in (b"Oslo-Vest 7", b"ann-7"):
        assert kept in exported["json"]


def test_the_trace_has_none_of_what_was_typed_nor_of_what_servers_answered(stage, run):
    store = stage.services.store
    store._database.execute_script("PRAGMA wal_checkpoint(TRUNCATE)")
    rows = store._database.rows(
        "SELECT id FROM blobs WHERE id NOT IN (SELECT page FROM steps WHERE page IS NOT NULL)"
    )
    blobs = [store._database.blobs.content(row["id"]) for row in rows]
    whole = b"\n".join(one for one in blobs)
    assert [
        name
        for name in found_in(whole)
        if name in TYPED or name in ("access_token", "refreshToken", "cookie")
    ] == []
    assert b"removed-card-code-1" in whole
    tables = [
        row["name"] for row in store._database.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
    ]
    for table in ("runs", "steps", "phases", "calls", "exchanges", "interventions", "events", "log"):
        assert table in tables
        assert found_in(repr(store._database.rows(f"SELECT * FROM {table}")).encode()) == []
    actions = [row.action for row in store.steps(run.state.run)]
    assert [one.split(" ", 2)[2] for one in actions[:2]] == ["[•••••••••••]", "[•••••••••••]"]
    assert actions[6].endswith("[Oslo-Vest 7]")


def test_the_file_of_the_trace_has_nothing_left_of_them_in_free_pages(stage, run, tmp_path):
    path = tmp_path / "copy.db"
    with contextlib.closing(sqlite3.connect(path)) as copy:
        stage.services.store._database._database.backup(copy)
    assert [name for name in found_in(path.read_bytes()) if name in TYPED] == []


@pytest.mark.parametrize("text", ["a", "test"])
def test_a_short_or_ordinary_password_is_hidden_where_it_was_typed_and_mangles_nothing(
    stage, llm_server, site, text
):
    run = stage.open(llm_server, url=site, instruction="a test of a log-in")
    llm_server.script(on('textbox "Password"', "type", text=text), stop("a test"))
    stage.to_the_end(run)
    store = stage.services.store
    assert store.steps(run.state.run)[0].action.endswith(f"[{'•' * len(text)}]")
    assert store.run(run.state.run).instruction == "a test of a log-in"
    assert store.run(run.state.run).answer == "a test"


def test_what_going_back_in_the_same_session_needs_stays_as_it_is(stage, run):
    store = stage.services.store
    assert run.state.inputs[0].action.text == TYPED["Password"]
    kept = [json.loads(store.pages.of(run.state.run, row.number)) for row in store.steps(run.state.run)]
    assert SERVED["cookie"] in {cookie["value"] for one in kept for cookie in one.get("cookies", ())}
