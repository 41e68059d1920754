"""A repro file: a trace database of one run, with the runs that it branched from, and without secrets.

Any installation can import the run into its database (``import``) and repeat it without a server or an LLM,
because their answers are in the file.

Secrets are found in the stored data and replaced everywhere by names without meaning. They are recognised by
their place (cookies, typed passwords, storage and parameters with names such as token) or by their form (keys
of well-known services, tokens, credentials in addresses). Secrets that a page shows as text or in a picture
are not recognised.
"""

import html
import json
import re
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit

from core.browser.log.records import RequestEntry
from core.schema.observation import is_hidden
from core.schema.step import Acted, Observed, Reviewed
from core.trace.encoding import parsed
from core.trace.store import TraceStore

SHORTEST = 6
"""Characters from which a value is replaced wherever it stands: a shorter one would hit what is not a secret."""
TELLING = re.compile(
    r"pass(word|wd|phrase|code)?\b|secret|token|auth|session|\bsid\b|jwt|csrf|xsrf|api.?key|access.?key|credential"
    r"|signature|\bpin\b|cvv|cvc|\botp\b",
    re.IGNORECASE,
)
"""Names of fields, parameters and keys of storage whose values are secret."""
_HEADERS = re.compile(
    r"^(authorization|proxy-authorization|cookie|x-.*(token|key|auth|csrf).*)$", re.IGNORECASE
)
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("token", re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*")),
    ("token", re.compile(r"(?<=[Bb]earer )[\w.~+/=-]{12,}")),
    ("key", re.compile(r"\bsk-[\w-]{16,}")),
    ("key", re.compile(r"\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}")),
    ("key", re.compile(r"\bAKIA[0-9A-Z]{16}\b")),
    ("key", re.compile(r"\bAIza[\w-]{35}")),
    ("key", re.compile(r"\bxox[abposr]-[\w-]{10,}")),
    ("key", re.compile(r"\bhf_\w{30,}")),
    ("key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----", re.DOTALL)),
    ("password", re.compile(r"(?<=://)[^/\s:@\"'<>]+:[^/\s:@\"'<>]{3,}(?=@)")),
)
_PASSWORD_FIELD = re.compile(r"<input\b[^>]*\btype=[\"']?password\b[^>]*>", re.IGNORECASE)
_VALUE = re.compile(r"\bvalue=(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_HIDDEN_FIELD = re.compile(r"<(?:input|meta)\b[^>]*>", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:name|id)=(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_CONTENT = re.compile(r"\b(?:value|content)=(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)


class Secrets:
    """The secrets of some runs; `text` returns a text without them."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self.removed: Counter[str] = Counter()
        """How many different ones were found, by kind: cookie, password, token, key, value."""
        self._pattern: re.Pattern[str] | None = None
        self._written: dict[str, str] = {}
        self._home = re.compile(re.escape(str(Path.home())) + r"(?=[/\\\"'\s]|$)")

    # Finding

    def add(self, kind: str, value: str) -> None:
        """Note a secret; one too short to be told from other text is left."""
        value = value.strip().encode(errors="replace").decode()
        if len(value) < SHORTEST or value in self._names or value.startswith("removed-"):
            return
        self._names[value] = f"removed-{len(self._names) + 1}"
        self.removed[kind] += 1
        self._pattern = None

    def look_in_text(self, text: str) -> None:
        """Note what any text shows to be secret by its form."""
        for kind, form in _FORMS:
            for found in form.findall(text):
                self.add(kind, found)

    def look_in_html(self, text: str) -> None:
        """Note what a document's fields hold that are passwords, or have telling names."""
        for field in _PASSWORD_FIELD.findall(text):
            self._add_value("password", field, _VALUE)
        for field in _HIDDEN_FIELD.findall(text):
            named = _NAMED.search(field)
            if named and TELLING.search(named[1] or named[2] or ""):
                self._add_value("token", field, _CONTENT)

    def _add_value(self, kind: str, field: str, value: re.Pattern[str]) -> None:
        found = value.search(field)
        if found:
            self.add(kind, html.unescape(found[1] or found[2] or ""))

    def look_in_url(self, url: str) -> None:
        """Note parameters with telling names."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return
        for name, value in (*parse_qsl(parts.query), *parse_qsl(parts.fragment)):
            if TELLING.search(name):
                self.add("token", value)

    def look_in_headers(self, headers: list[tuple[str, str]] | list[list[str]]) -> None:
        """Note cookies that are set, and what logs in."""
        for name, value in headers:
            if name.lower() == "set-cookie":
                self.add("cookie", value.partition(";")[0].partition("=")[2])
            elif _HEADERS.match(name):
                self.add("token", value.rpartition(" ")[2])

    def look_in_kept(self, kept: dict[str, Any]) -> None:
        """Note what a browser kept for a page: its cookies, and storage with telling keys."""
        for cookie in kept.get("cookies") or ():
            self.add("cookie", str(cookie.get("value", "")))
        for storage in ("local", "session"):
            for key, value in (kept.get(storage) or {}).items():
                self._look_in_stored(str(key), str(value), deep=True)

    def _look_in_stored(self, key: str, value: str, *, deep: bool) -> None:
        try:
            content = json.loads(value) if deep else None
        except (ValueError, RecursionError):
            content = None
        if isinstance(content, dict):
            for name, inner in content.items():
                if isinstance(inner, str):
                    self._look_in_stored(f"{key} {name}", inner, deep=False)
        elif TELLING.search(key):
            self.add("token", content if isinstance(content, str) else value)

    # Replacing

    def text(self, text: str) -> str:
        """Return `text` without the secrets, in whatever way it writes them; the user's own folder becomes ``~``."""
        if self._pattern is None:
            self._written = {form: name for value, name in self._names.items() for form in _forms_of(value)}
            longest_first = sorted(self._written, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
        return self._home.sub("~", self._pattern.sub(lambda found: self._written[found[0]], text))

    @property
    def sentence(self) -> str:
        """Return what was found, in words."""
        if not self.removed:
            return "No secrets were found."
        found = ", ".join(f"{count} of kind {kind}" for kind, count in sorted(self.removed.items()))
        return f"Secrets were replaced by removed-1, removed-2 and so on: {found}."


def _forms_of(value: str) -> set[str]:
    """Return how a value may be written: plain, in JSON, in HTML, in addresses."""
    forms = {
        value,
        html.escape(value),
        html.escape(value, quote=False),
        quote(value),
        quote(value, safe=""),
        quote_plus(value),
    }
    forms |= {json.dumps(one)[1:-1] for one in tuple(forms)}
    forms |= {json.dumps(one, ensure_ascii=False)[1:-1] for one in tuple(forms)}
    return {one for one in forms if len(one) >= SHORTEST}


def export_repro(store: TraceStore, run: int) -> bytes:
    """Return the file; raises TraceError if a part of the run is damaged."""
    secrets = secrets_of(store, run)
    with tempfile.TemporaryDirectory(prefix="backstep-") as folder:
        path = Path(folder) / "repro.db"
        with closing(TraceStore.open(path)) as target:
            store.copy_to(target, run, secrets, offline=bool(store.network(run)))
        return whole_file(path, compact=True)


def whole_file(path: Path, *, compact: bool = False) -> bytes:
    """Return a closed trace database as one file, which may lie if nothing can be written next to it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        if compact:
            connection.execute("VACUUM")
    return path.read_bytes()


def secrets_of(store: TraceStore, run: int) -> Secrets:
    """Return what is secret in a run, and in those that it branched from."""
    secrets = Secrets()
    for exchange in store.network(run):
        secrets.look_in_headers([*exchange.headers])
        secrets.look_in_url(exchange.url)
        if exchange.body:
            data, media_type = store.blob_and_type(exchange.body)
            _look(secrets, data, media_type)
    for row in store.steps(run):
        secrets.look_in_url(row.url)
        _look_in_kept(secrets, store.page(run, row.number))
        _look_in_step(secrets, store, run, row.number)
        for part in store.page_log(run, row.number) or ():
            for entry in part.log.entries if part.log is not None else ():
                if isinstance(entry, RequestEntry):
                    secrets.look_in_url(entry.url)
                secrets.look_in_text(entry.model_dump_json())
    for call in store.calls(run):
        secrets.look_in_text(store.blob(call.messages).decode(errors="replace"))
    return secrets


def _look_in_kept(secrets: Secrets, page: bytes) -> None:
    try:
        kept = parsed(page or b"{}")
    except ValueError:
        return  # It is damaged, and no page is brought back by it.
    if isinstance(kept, dict):
        secrets.look_in_kept(kept)


def _look(secrets: Secrets, data: bytes, media_type: str) -> None:
    if not media_type.startswith(("text/", "application/")):
        return
    text = data.decode(errors="replace")
    secrets.look_in_text(text)
    if "html" in media_type:
        secrets.look_in_html(text)


def _look_in_step(secrets: Secrets, store: TraceStore, run: int, number: int) -> None:
    detail = store.step(run, number)
    fields: set[str] = set()
    for record in detail.records:
        if isinstance(record, Observed):
            if record.html:
                _look(secrets, *store.blob_and_type(record.html))
            secrets.look_in_text(record.observation.lines())
            fields = {
                str(element.ref)
                for element in record.observation.elements
                if "type" in element.uses and (TELLING.search(element.name) or is_hidden(element.value))
            }
        elif isinstance(record, Reviewed):
            secrets.look_in_text(record.thought)
            _look_in_typed(secrets, record.action, fields, "")
        elif isinstance(record, Acted):
            for done in record.inputs:
                mark = done.marks.get("target")
                _look_in_typed(secrets, done.action, fields, mark.element.name if mark else record.target)


def _look_in_typed(secrets: Secrets, action: Any, fields: set[str], name: str) -> None:
    """Note what was typed into a field of a telling name, or one that shows bullets."""
    text = getattr(action, "text", "")
    target = getattr(action, "target", None)
    called = f"{name} {getattr(target, 'name', '')}"
    if text and (str(getattr(target, "ref", "")) in fields or TELLING.search(called)):
        secrets.add("password", text)
