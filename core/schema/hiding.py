"""How what is secret is hidden; `core.schema.secrets` says what is.

A secret is hidden in its own place. It is hidden wherever else it stands only if it `stands_out`: a value that is
short or an ordinary word would take other text with it. Numbers and short words are only found as whole words.
"""

import base64
import html
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from threading import RLock
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit

from core.schema.formats import encodable
from core.schema.secrets import (
    FORMS,
    HIDDEN,
    HIDDEN_KEY,
    SLUGS,
    Kind,
    kind_of_header,
    kind_of_name,
    named,
    names_in,
    places_in,
    stands_out,
    values_of_html,
)

_MOST = 1 << 16
"""Characters of a value that is looked for elsewhere, too."""
_PLACEHOLDER = re.compile(r"\bremoved-((?:[a-z]+-)+)(\d+)\b")
_START, _END = r"(?:(?<![^\W_])|(?<=\\[nrtbf])|(?<=\\u[0-9a-f]{4})|(?<=%[0-9A-Fa-f]{2}))", r"(?![^\W_])"


class Secrets:
    """Secret values that were found, and texts without them. Several threads may use it at once."""

    def __init__(self) -> None:
        self._lock = RLock()
        """Held while something is added."""
        self._instead: dict[str, str] = {}
        """What stands for each value, in the order they were added."""
        self._written: dict[str, tuple[str, str]] = {}
        """The same for each pattern of a way of writing one, after what is in every text that has it."""
        self._declared: dict[str, str] = {}
        self.public: frozenset[str] = frozenset()
        """What is no secret wherever it is: what a bundled task makes up and tells."""
        self._numbers: Counter[str] = Counter()
        self._known: set[tuple[str, str]] = set()

    def __len__(self) -> int:
        return len(self._instead) + len(self._declared)

    @property
    def counts(self) -> dict[str, int]:
        """How many different ones were hidden, by kind, here and before in the texts that were looked at."""
        return dict(Counter(kind for kind, _ in sorted(self._known)))

    def add(self, kind: Kind, value: str, instead: str = "") -> bool:
        """Hide a value from now on wherever it stands, if it `stands_out`; return whether that is new.

        `instead` takes its place; without it a name such as ``removed-token-1``.
        """
        value = encodable(value.strip())
        with self._lock:
            if (
                len(value) > _MOST
                or not stands_out(value)
                or value in self.public
                or value in self._instead
                or kind == "card date"
                or value == instead
            ):
                return False
            self._instead[value] = instead or self._next(kind)
            self._known.add((kind, self._instead[value] if not instead or kind == "secret" else value))
            for form, pattern in _forms_of(value, kind).items():
                self._written.setdefault(pattern, (form, self._instead[value]))
            return True

    def add_between(self, before: str, value: str, after: str, instead: str) -> None:
        """Hide a value from now on wherever it stands between these texts, also in JSON, and in JSON in it.

        So a short one is hidden, too, and what else is written the same stays.
        """
        whole = before + value + after
        self._instead[whole] = instead
        for ascii in (True, False):
            parts: tuple[str, ...] = (before, value, after)
            for _ in range(_DEPTH):
                form = "".join(parts)
                first, middle, last = map(re.escape, parts)
                self._written.setdefault(f"(?<={first}){middle}(?={last})", (form, instead))
                parts = tuple(json.dumps(part, ensure_ascii=ascii)[1:-1] for part in parts)

    def add_keys(self, keys: Iterable[str]) -> None:
        """Hide keys of LLM servers as ``[key]``."""
        for key in keys:
            self.add("key", key, HIDDEN_KEY)

    def declare(self, name: str, value: str) -> None:
        """Hide the value of a task's secret as ``<secret:NAME>``; a short one only where it is typed."""
        self._declared[value] = named(name)
        self.add("secret", value, named(name))

    def instead_of(self, text: str) -> str:
        """Return what stands for a text that is a secret as a whole; empty for another text."""
        return self._declared.get(text) or self._instead.get(text.strip(), "")

    def count(self, kind: str, what: str) -> None:
        """Count one that was hidden before; `what` tells it from others."""
        self._known.add((kind, what))

    def look_in_text(self, text: str) -> None:
        """Note what any text shows to be secret by its form, and what was hidden in it before."""
        for kind, form in FORMS:
            for found in form.findall(text):
                self.add(kind, found)
        for name, number in _PLACEHOLDER.findall(text):
            for known in (one for one, slug in SLUGS.items() if slug == name[:-1]):
                with self._lock:
                    self._numbers[known] = max(self._numbers[known], int(number))
                self.count(known, f"removed-{name}{number}")
        for name in names_in(text):
            self.count("secret", named(name))

    def look_in_places(self, text: str) -> None:
        """Note what has a telling name, as `places_in` finds it."""
        for place in places_in(text):
            self.add(place.kind, place.value)

    def look_in_html(self, text: str) -> None:
        """Note what a document's fields hold that are secret."""
        for kind, value in values_of_html(text):
            self.add(kind, value)

    def look_in_url(self, url: str) -> None:
        """Note parameters with telling names, also those of an address in a parameter, and a password."""
        self.look_in_text(url)
        try:
            parts = urlsplit(url)
        except ValueError:
            return
        for name, value in (*parse_qsl(parts.query), *parse_qsl(parts.fragment)):
            if (kind := kind_of_name(name, value, in_address=True)) is not None:
                self.add(kind, value)
            self.look_in_places(value)

    def look_in_headers(self, headers: Iterable[Iterable[str]]) -> None:
        """Note cookies, and what logs in."""
        for name, value in headers:
            for kind, secret in _of_header(name, value):
                self.add(kind, secret)

    def look_in_kept(self, kept: dict[str, Any]) -> None:
        """Note what a browser kept for a page: its cookies, and storage with telling keys."""
        for cookie in kept.get("cookies") or ():
            self.add("cookie", str(cookie.get("value", "")))
        for storage in ("local", "session"):
            for key, value in (kept.get(storage) or {}).items():
                if (kind := kind_of_name(str(key), str(value))) is not None:
                    self.add(kind, str(value))
                self.look_in_places(str(value))
        if isinstance(kept.get("databases"), str):
            self.look_in_places(kept["databases"])

    def text(self, text: str) -> str:
        """Return `text` without the secrets, however it writes them; a text without any is returned as it is."""
        present = [(pattern, *one) for pattern, one in list(self._written.items()) if one[0] in text]
        if not present:
            return text
        present.sort(key=lambda one: len(one[1]), reverse=True)
        # What was put in place of a secret before is left as it is.
        every = "|".join((HIDDEN, *(f"(?P<_{at}>{one[0]})" for at, one in enumerate(present))))

        def instead(found: re.Match[str]) -> str:
            name = found.lastgroup
            return found[0] if name is None else present[int(name[1:])][2]

        return re.sub(every, instead, text)

    def data(self, data: bytes) -> bytes:
        """Return a text, or JSON, without the secrets."""
        if not self._written:
            return data
        text = data.decode(errors="surrogateescape")
        hidden = self.text(text)
        return data if hidden is text else hidden.encode(errors="surrogateescape")

    def text_of_places(self, text: str) -> str:
        """Return `text` without the values that have telling names, short ones too, and without the secrets."""
        parts, at = [], 0
        for place in sorted(places_in(text), key=lambda place: (place.start, -place.end)):
            self.add(place.kind, place.value)
            if place.start >= at:
                instead = self._instead.get(place.value.strip()) or self._next(place.kind)
                parts += [text[at : place.start], "0" if place.is_number else instead]
                at = place.end
        return self.text("".join((*parts, text[at:])))

    def headers(self, headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Return HTTP headers without the secrets in them."""
        headers = tuple(headers)
        self.look_in_headers(headers)
        for name, value in headers:
            if name.lower() in ("location", "referer"):
                self.look_in_url(value)
        return tuple((name, self.text(value)) for name, value in headers)

    def _next(self, kind: Kind) -> str:
        with self._lock:
            self._numbers[kind] += 1
            name = f"removed-{SLUGS[kind]}-{self._numbers[kind]}"
            self._known.add((kind, name))
            return name

    @property
    def sentence(self) -> str:
        """What was left out, such as ``2 passwords and 1 token were left out.``; empty for nothing."""
        return left_out(self.counts)


def left_out(counts: dict[str, int]) -> str:
    """Return what was left out, such as ``2 passwords and 1 token were left out.``; empty for nothing."""
    told = [f"{count} {kind if count == 1 else f'{kind}s'}" for kind, count in sorted(counts.items())]
    if not told:
        return ""
    listed = f"{', '.join(told[:-1])} and {told[-1]}" if len(told) > 1 else told[0]
    return f"{listed} {'was' if sum(counts.values()) == 1 else 'were'} left out."


_DEPTH = 4
"""How deep a text is looked for in JSON in JSON: the arguments of a tool, in a reply, in a prompt."""
_OPAQUE = frozenset({"token", "cookie", "key"})
"""Kinds that are never what a person types, so that Basic authentication does not have them."""


def _forms_of(value: str, kind: str) -> dict[str, str]:
    """Return how a value may be written, each with the pattern that finds it: in JSON, HTML, addresses and base64."""
    forms = {value}
    if kind == "card number":
        digits = "".join(filter(str.isdigit, value))
        groups = [digits[at : at + 4] for at in range(0, len(digits), 4)]
        forms |= {digits, " ".join(groups), "-".join(groups)}
    forms |= {written for form in forms for written in (*_escaped(form), *_in_json(form))}
    for _ in range(2):  # A text of JSON may hold JSON.
        forms |= {json.dumps(form, ensure_ascii=ascii)[1:-1] for form in forms for ascii in (True, False)}
    found = {form: _pattern(form) for form in forms if stands_out(form)}
    return found if kind in _OPAQUE else found | _in_base64(value)


def _escaped(value: str) -> set[str]:
    in_url = {quote(value), quote(value, safe=""), quote(value, safe="!'()*"), quote_plus(value)}
    in_html = {html.escape(value), html.escape(value, quote=False)}
    in_html.add(value.replace("&", "&amp;").replace('"', "&quot;"))  # As browsers write attributes.
    in_html |= {one.replace("&#x27;", "&#39;").replace("&quot;", "&#34;") for one in in_html}
    in_html |= {one.replace("&#x27;", "&apos;") for one in in_html}
    in_html |= {one.replace("/", "&#x2F;") for one in in_html}
    return in_url | {re.sub("%..", lambda found: found[0].lower(), one) for one in in_url} | in_html


def _in_json(value: str) -> set[str]:
    """Return a value as writers of JSON escape it that escape more than they need to."""
    plain = {json.dumps(value, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    escaped = {one.replace("/", "\\/") for one in plain} | {
        re.sub(signs, lambda found: f"\\u{ord(found[0]):04x}", one)
        for one in plain
        for signs in ("[<>&]", "[<>&'+]")
    }
    return escaped | {
        re.sub(r"\\u(....)", lambda found: f"\\u{found[1].upper()}", one) for one in (*plain, *escaped)
    }


def _pattern(form: str) -> str:
    whole = form.isalnum() and (form.isdigit() or (form.isalpha() and len(form) < 8))
    return f"{_START}{re.escape(form)}{_END}" if whole else re.escape(form)


def _in_base64(value: str) -> dict[str, str]:
    """Return the middle of what base64 makes of a value, wherever in the encoded text it begins."""
    found = {}
    data = value.encode()
    for before in range(3):
        whole = (before + len(data)) // 3 * 3
        encoded = base64.b64encode((b"\0" * before + data)[:whole]).decode()
        core = encoded[(before * 8 + 5) // 6 if before else 0 :]
        for one in {core, core.translate(str.maketrans("+/", "-_"))} if len(core) >= 6 else ():
            found[one] = rf"[\w+/-]*{re.escape(one)}[\w+/-]*={{0,2}}"
    return found


def _of_header(name: str, value: str) -> Iterator[tuple[Kind, str]]:
    kind = kind_of_header(name)
    if name.lower() == "set-cookie":
        yield "cookie", value.partition(";")[0].partition("=")[2]
    elif name.lower() == "cookie":
        yield from (("cookie", one.partition("=")[2]) for one in value.split(";"))
    elif kind is not None:
        scheme, _, rest = value.strip().partition(" ")
        yield kind, rest or scheme
        if scheme.lower() == "basic":
            try:
                yield "password", base64.b64decode(rest).decode().partition(":")[2]
            except ValueError:
                return
