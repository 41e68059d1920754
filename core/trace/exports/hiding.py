"""Copies of runs without what `core.schema.secrets` finds to be secret, from which runs are exported.

What the trace has hidden already stays so, and is counted. Secrets in pictures are not found.
"""

import json
import re
import tempfile
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from functools import partial, wraps
from itertools import product
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from core.browser.log.records import RequestEntry
from core.schema.action import Type, escape_brackets
from core.schema.errors import TraceError
from core.schema.formats import encodable
from core.schema.hiding import Secrets, left_out
from core.schema.observation import in_quotes, is_hidden
from core.schema.secrets import Kind, kind_of_name, kind_of_selector, quoted_in, told_by
from core.schema.step import Acted, Decided, Observed, Reviewed, record_of
from core.trace.calls import stored_reply
from core.trace.encoding import parsed
from core.trace.repro.rows import Change
from core.trace.store import TraceStore

_ANY_NAME = re.compile(
    r"pass|pwd|token|secret|otp|pin|cv[cv]|csc|card|cc.?n|key|auth|sess|sid|jwt|[cx]srf|sig|cred|code|bearer|cookie",
    re.IGNORECASE,
)
"""Occurs in a text that has a telling name, or more often: it is found faster than the name."""


def _in_json(value: Any) -> set[str]:
    """Return how a value is written in JSON: compact, and with and without letters beyond ASCII."""
    return {json.dumps(value, ensure_ascii=ascii, separators=(",", ":")) for ascii in (True, False)}


def _hidden(secrets: Secrets, text: str) -> str:
    """Return a text of a run without its secrets; those that show only here are noted, for another pass."""
    secrets.look_in_text(text)
    if _ANY_NAME.search(text):
        secrets.look_in_places(text)
    return secrets.text(text)


def copied_without_secrets(
    store: TraceStore,
    run: int,
    path: Path,
    *,
    own: Change = str,
    offline: bool = False,
    same_numbers: bool = False,
) -> tuple[TraceStore, int]:
    """Copy a run, with those that it branched from, into a new database; return it and the run's number there.

    `own`, `offline` and `same_numbers` are those of `TraceStore.copy_to`. Raises TraceError if a part of the run is
    damaged.
    """
    secrets = secrets_of(store, run)
    while True:
        found = len(secrets)
        path.unlink(missing_ok=True)
        copy = TraceStore.open(path)
        try:
            number = store.copy_to(
                copy, run, partial(_hidden, secrets), own=own, offline=offline, same_numbers=same_numbers
            )
        except BaseException:
            copy.close()
            raise
        if len(secrets) == found:
            copy.left_out = left_out(secrets.counts)
            return copy, number
        copy.close()  # What was found late may stand in what was copied before.


@contextmanager
def without_secrets(store: TraceStore, run: int) -> Generator[TraceStore, None, None]:
    """Give a store in which a run has its number and no secrets: the given one if it is such a store."""
    if store.left_out is not None:
        yield store
        return
    with tempfile.TemporaryDirectory(prefix="backstep-") as folder:
        copy, _ = copied_without_secrets(store, run, Path(folder) / "run.db", same_numbers=True)
        with closing(copy):
            yield copy


P = ParamSpec("P")
T = TypeVar("T")


def hiding(
    export: Callable[Concatenate[TraceStore, int, P], T],
) -> Callable[Concatenate[TraceStore, int, P], T]:
    """Have an exporter read a run without its secrets."""

    @wraps(export)
    def exported(store: TraceStore, run: int, /, *given: P.args, **named: P.kwargs) -> T:
        with without_secrets(store, run) as copy:
            return export(copy, run, *given, **named)

    return exported


def secrets_of(store: TraceStore, run: int) -> Secrets:
    """Return what its place shows to be secret in a run, and in those that it branched from."""
    secrets, begun = Secrets(), store.run(run)
    secrets.public = told_by(begun.environment, begun.instruction)
    for exchange in store.pages.network(run):
        secrets.look_in_headers(exchange.headers)
        secrets.look_in_url(exchange.url)
        _look(secrets, store, exchange.body)
    for row in store.steps(run):
        secrets.look_in_url(row.url)
        for look in (_look_in_kept, _look_in_step, _look_in_log):
            with suppress(TraceError):  # What is damaged tells nothing, here or in an export.
                look(secrets, store, run, row.number)
    return secrets


def _look_in_log(secrets: Secrets, store: TraceStore, run: int, number: int) -> None:
    for part in store.pages.log(run, number) or ():
        for entry in part.log.entries:
            if isinstance(entry, RequestEntry):
                secrets.look_in_url(entry.url)


def _look_in_kept(secrets: Secrets, store: TraceStore, run: int, number: int) -> None:
    try:
        kept = parsed(store.pages.of(run, number) or b"{}")
    except ValueError:
        return  # It is damaged, and no page is brought back by it.
    if isinstance(kept, dict):
        secrets.look_in_kept(kept)


def _look(secrets: Secrets, store: TraceStore, blob: str) -> None:
    with suppress(TraceError):
        data, media_type = store.blob_and_type(blob) if blob else (b"", "")
        if "html" in media_type:
            secrets.look_in_html(data.decode(errors="replace"))


def _look_in_step(secrets: Secrets, store: TraceStore, run: int, number: int) -> None:
    """Note what was typed into secret fields, and what is hidden there already."""
    seen: Observed | None = None
    records = store.step(run, number).records
    acted, decided = record_of(Acted, records), record_of(Decided, records)
    told = acted if acted is not None and not acted.inputs else None
    typed: set[str] = set()
    for record in records:
        if isinstance(record, Observed):
            seen = record
            _look(secrets, store, record.html)
        elif isinstance(record, Reviewed) and isinstance(record.action, Type):
            words, xpath = (" ".join(sorted(quoted_in(told.target))), told.xpath) if told else ("", "")
            if _look_in_typed(secrets, record.action, seen, words, xpath):
                typed.add(record.action.text)
        elif isinstance(record, Acted):
            for done in record.inputs:
                mark = done.marks.get("target")
                name = mark.element.name if mark else record.target
                if isinstance(done.action, Type) and _look_in_typed(secrets, done.action, seen, name):
                    typed.add(done.action.text)
    proposed = decided.proposal.action if decided is not None else None
    if isinstance(proposed, Type) and proposed.text in typed:
        _hide_in_action(secrets, proposed)
    if typed:
        _look_in_replies(secrets, store, run, number, typed)


def _look_in_replies(secrets: Secrets, store: TraceStore, run: int, number: int, texts: set[str]) -> None:
    """Hide what a step typed into secret fields in the replies that asked for it, wherever these stand.

    It stays where it is the name of a value, or the value of another name than ``text``, such as a target.
    """
    for call in store.calls.of(run):
        if call.step != number:
            continue
        with suppress(TraceError):
            reply = stored_reply(store, call)
            written = (reply.text, *(tool.arguments for tool in reply.tool_calls)) if reply else ()
            for whole, text in product(written, texts):
                value = "|".join(re.escape(one[1:-1]) for one in _in_json(text))
                for found in re.finditer(rf'(?:"([^"\\]*)"\s*:\s*)?"({value})"(?!\s*:)', whole):
                    if found[1] in (None, "text"):
                        before, after = whole[: found.start(2)], whole[found.end(2) :]
                        secrets.add_between(before, found[2], after, "•" * len(text))


def _look_in_typed(secrets: Secrets, action: Type, seen: Observed | None, name: str, xpath: str = "") -> bool:
    """Note a text that was typed into a secret field, and return whether it is one that was not hidden before.

    Of an imported run, its words and its XPath tell the field.
    """
    ref = getattr(action.target, "ref", None)
    element = seen.observation.element(ref) if seen is not None and ref is not None else None
    called = element.name if element is not None else f"{name} {getattr(action.target, 'name', '')}"
    kind = (element.hides if element is not None else "") or kind_of_name(called, action.text)
    kind = kind or kind_of_selector(getattr(action.target, "xpath", "") or xpath, action.text)
    if is_hidden(action.text):
        secrets.count(kind or "password", f"{called.strip()} {action.text}")
    elif (
        action.text.strip()
        and action.text not in secrets.public
        and (kind or (element is not None and is_hidden(element.value)))
    ):
        _hide_typed(secrets, kind or "password", action, called.strip())
        return True
    return False


def _hide_typed(secrets: Secrets, kind: Kind, action: Type, called: str) -> None:
    """Hide what was typed wherever it stands out, and as bullets in its action and as the value of its field."""
    if not secrets.add(kind, action.text) and not secrets.instead_of(action.text):
        secrets.count(kind, action.text)
    quoted = in_quotes(called)
    for text in {action.text, encodable(action.text)}:
        places = [(f'"{quoted}" value="', in_quotes(text), '"')]
        for value, name in product(_in_json(text), _in_json(called)):
            places.append((f'"name":{name},"value":"', value[1:-1], '"'))
        for place in places:
            secrets.add_between(*place, "•" * len(action.text))
    _hide_in_action(secrets, action)


def _hide_in_action(secrets: Secrets, action: Type) -> None:
    """Hide the text of an action as bullets where the action is written with its target."""
    target = escape_brackets(str(action.target))
    ref = json.dumps(getattr(action.target, "ref", str(action.target)), ensure_ascii=False)
    for text in {action.text, encodable(action.text)}:
        places = [
            (f"{action.name} [{target}] [", escape_brackets(text), "]"),
            (f'"target": {ref}, "text": "', json.dumps(text, ensure_ascii=False)[1:-1], '"'),
        ]
        for value, stored in product(_in_json(text), _in_json(action.target.model_dump())):
            places.append((f'"target":{stored},"text":"', value[1:-1], '"'))
        for place in places:
            secrets.add_between(*place, "•" * len(action.text))
