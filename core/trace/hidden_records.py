"""Records as they are stored: what was typed into secret fields is bullets, or the name of a task's secret."""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from core.browser.recorded.exchange import Exchange
from core.schema.hiding import Secrets
from core.schema.observation import Observation, is_hidden
from core.schema.secrets import Kind, names_in
from core.schema.step import PhaseRecord
from core.trace.encoding import from_json, parsed, to_json

R = TypeVar("R", bound=PhaseRecord)
_SAYS_SECRETS = re.compile(r"json|html|xml|text/plain|form-urlencoded")
"""Kinds of content that are looked at for names; style sheets, scripts and pictures are not."""
_LARGEST = 1 << 20
"""Bytes of a content that is looked at for names."""
_TYPES = (b'"kind":"type"', b'"kind":"select"')


def types(record: PhaseRecord) -> bool:
    """Return whether a record has an action that puts a text into a field."""
    return _types(to_json(record, exclude={record.part}))


def hidden_record(record: R, seen: Observation | None, secrets: Secrets) -> R:
    """Return a record as it may be stored; `seen` is the page that its elements are of.

    What it types into secret fields is noted in `secrets`. In the record's actions it is hidden even if it is too short
    to be hidden elsewhere.
    """
    fields = (
        {element.ref: element.hides for element in seen.elements if element.hides} if seen is not None else {}
    )
    data = to_json(record)
    hidden = secrets.data(_with_bullets(data, fields, secrets))
    return record if hidden is data else from_json(type(record), hidden)


def _types(data: bytes) -> bool:
    return any(one in data for one in _TYPES)


def _with_bullets(data: bytes, fields: Mapping[int, Kind | Literal[""]], secrets: Secrets) -> bytes:
    if not _types(data):
        return data
    values = parsed(data)
    return json.dumps(values).encode() if _hide(values, fields, "", secrets) else data


def _hide(
    value: Any, fields: Mapping[int, Kind | Literal[""]], held: Kind | Literal[""], secrets: Secrets
) -> bool:
    """Hide what actions put into secret fields, somewhere in JSON; return whether there was any.

    `held` is the secret of the field that an input was done in.
    """
    if isinstance(value, list):
        found = [_hide(one, fields, held, secrets) for one in value]
        return any(found)
    if not isinstance(value, dict):
        return False
    target = (value.get("marks") or {}).get("target") if isinstance(value.get("marks"), dict) else None
    held = target["element"].get("hides", "") if target else held
    part = {"type": "text", "select": "option"}.get(value.get("kind", ""), "")
    text = value.get(part, "")
    if not part or not text or is_hidden(text) or names_in(text) or text in secrets.public:
        return _hide([*value.values()], fields, held, secrets)
    kind = fields.get((value.get("target") or {}).get("ref", -1), "") or held
    if kind and part == "text":
        secrets.add(kind, text, "•" * len(text))
    instead = secrets.instead_of(text) or ("•" * len(text) if kind and part == "text" else "")
    if instead:
        value[part] = instead
    return bool(instead)


def hidden_exchange(exchange: Exchange, body: bytes, secrets: Secrets) -> tuple[Exchange, bytes]:
    """Return what a server answered without tokens, cookies and other values of telling names."""
    url = secrets.text_of_places(exchange.url)
    changed = exchange.replace(url=url, headers=secrets.headers(exchange.headers))
    if not _SAYS_SECRETS.search(exchange.media_type) or len(body) > _LARGEST:
        return changed, body
    text = body.decode(errors="surrogateescape")
    if "html" in exchange.media_type:
        secrets.look_in_html(text)
    return changed, secrets.text_of_places(text).encode(errors="surrogateescape")


def hidden_log(log: bytes, secrets: Secrets) -> bytes:
    """Return the log of a page, as JSON, without values of telling names."""
    return secrets.text_of_places(log.decode(errors="surrogateescape")).encode(errors="surrogateescape")
