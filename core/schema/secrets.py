"""The one rule of what is secret: in the trace, exports, repro files, exemplars and logs.

Something is secret by

- its field in a page: the type ``password``, an ``autocomplete`` such as ``one-time-code`` or ``cc-number``, or its
  name;
- its name, as a JSON key, form field, parameter, cookie or HTTP header: `kind_of_name` and `kind_of_header`;
- its form: a JSON web token, a private key, the keys of well-known services, a password in an address;
- a declaration: a task's ``secrets``, and the keys of LLM servers.
"""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple, get_args
from urllib.parse import unquote_plus

Kind = Literal[
    "password", "one-time code", "PIN", "card number", "card code", "card date", "token", "key", "cookie", "secret"
]  # fmt: skip
HIDDEN_KEY = "[key]"
"""Stands for the key of an LLM server."""

_NAMES: dict[Kind, str] = {
    "password": "password pass-word passwd passwort pwd passphrase passcode passwords user-pass db-pass smtp-pass",
    "one-time code": "otp totp one-time-code verification-code onetimecode mfa-code 2-fa-code sms-code auth-code",
    "PIN": "pin pin-code pin-number",
    "card number": "card-number cardnumber cc-number ccnumber credit-card card-no",
    "card code": "cvv cvc csc card-code security-code",
    "token": "token jwt csrf xsrf bearer authorization accesstoken refreshtoken idtoken authtoken csrftoken"
    " csrfmiddlewaretoken",
    "key": "secret api-key apikey access-key secret-key private-key signing-key auth-key subscription-key"
    " encryption-key clientsecret",
    "cookie": "session-id sessionid",
}
_WEAK = "auth authentication cookie session sid signature sig credential credentials"
"""Names that hold a secret only where the value looks like one."""
_CODES = ("code", "key")
"""Names that hold a secret only in an address, and only a long one."""
_DESCRIBING = frozenset(
    "count type length expires expiry expiration limit used hint policy url uri name field label required strength"
    " visible enabled valid size ttl lifetime changed updated created at in placeholder help error errors status budget"
    " usage usages prompt prompts message format rules title text description".split()
)
"""Last words of names that only tell something about a secret, such as ``token_type``."""
_ASKING = frozenset("has is show hide forgot max min num no total".split())
"""First words of names that are a question or a number, such as ``has_password``."""
_HEADERS: dict[str, Kind] = {
    "authorization": "token",
    "proxy-authorization": "token",
    "cookie": "cookie",
    "set-cookie": "cookie",
    "api-key": "key",
    "x-api-key": "key",
    "x-goog-api-key": "key",
}
_COMMON = frozenset(
    "password passwort username administrator example default changeme undefined bearer secret testing welcome"
    " required optional disabled enabled expired invalid string number unknown anonymous active inactive removed"
    " submit signin signup current-password new-password one-time-code".split()
)
"""Words of six letters and more that stand in any text."""
_BEGIN = r"(?:\b|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
"""Where a word begins, also in JSON, in which a line break ends with a letter."""
_NO_WORDS = r"(?![A-Z]?[a-z]{1,15}(?:[-_/][A-Z]?[a-z]{1,15})*+(?![\w~+/=-]|\.\w))"
"""Before what may be a key: it is none in ``basic requirements``."""
_OF_PEM = (
    r"(?:[A-Za-z0-9+/=\s:,]|-(?!----)|\\+[nrt/]|\\+u[0-9a-fA-F]{4}|&#x?[0-9a-fA-F]+;|<br ?/?>|[|>]\s|%0[AD]"
    r"|\\*[\"'](?:[\s.,+]|\\+[nrt])*+\\*[\"'])"
)
"""What stands in a private key: base64, headers and line breaks, as code, JSON and HTML write them, also in parts."""
FORMS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("token", re.compile(rf"{_BEGIN}eyJ[\w-]{{8,4096}}+\.[\w-]{{8,16384}}+\.[\w-]*")),
    ("token", re.compile(rf"(?<=[Bb]earer ){_NO_WORDS}[\w.~+/=-]{{12,}}")),
    ("token", re.compile(r"(?<=[Aa]uthorization: Bearer )[\w.~+/=-]{8,}")),
    ("password", re.compile(rf"(?<=[Bb]asic ){_NO_WORDS}[\w+/-]{{12,}}={{0,2}}")),
    (
        "key",
        re.compile(
            rf"{_BEGIN}(?:(?:sk-|gsk_|xai-|nvapi-|pplx-)[\w-]{{16,}}|(?:gh[pousr]_|github_pat_)\w{{20,}}"
            r"|AKIA[0-9A-Z]{16}\b|AIza[\w-]{35}|xox[abposr]-[\w-]{10,}|hf_\w{30,})"
        ),
    ),
    (
        "key",
        re.compile(
            rf"-----BEGIN [A-Z ]*PRIVATE KEY-----(?={_OF_PEM}*?[A-Za-z0-9+/=]{{16}}){_OF_PEM}*+"
            r"-----END [A-Z ]*PRIVATE KEY-----"
        ),
    ),
    ("password", re.compile(r"(?<=://)[^/?#\s:@\"'<>]+:(?!\d{1,5}[?#])[^/\s:@\"'<>]{3,}(?=@)")),
)
"""Forms of values that are secret wherever they stand, in the order in which they are looked for."""
_KEY_IN_ERRORS = re.compile(r"(?i)\b(bearer\s+)\S+|\bsk-[A-Za-z0-9_*.-]{6,}")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAME_OF_PAIR = re.compile(
    r'(?<!\?)(?P<quote>(?<!\\)\\{0,16}")(?:name(?P=quote)\s*:\s*(?P=quote)(?P<field>[^"\\]{1,80})(?P=quote)\s*,'
    r'\s*(?P=quote)value|(?P<name>(?![(){};,\s])[^"\\{};]{1,80}))(?P=quote)\s*:\s*'
)
"""The name of a value in JSON, also of ``{"name": "password", "value": …}``; behind a ``?`` it is a choice in code."""
_BEFORE_ITEM = re.compile(r"\s*[\[,]\s*")
_NUMBER = re.compile(r"-?\d+")
_QUOTE = re.compile(r'(?<!\\)(\\*+)"')
_JSON = re.compile(r"\s*(?:\{|\[\s*(?:[{\[\"\d-]|null\b|true\b|false\b))")
_REST_OF_LINE = re.compile(r"[^\r\n]*")
_TYPED = frozenset({"password", "PIN", "one-time code", "card number", "card code"})
"""Kinds that a person types, so that they need not look like a key."""
_FIELD = re.compile(
    r"(?:\A|(?<=[?&#])|(?<=&amp;))((?!\])[A-Za-z0-9_.%\[\]-]{1,80})=(?!\$\{|=|[\[(]\^|\.[*+]|\\|/\.|:[a-z]|%[sd]|\[\w+\])"
)
"""The name of a field of a form or address, but before a pattern, code or what stands for a value."""
_VALUE = re.compile(r"(?:[^&#?\s\"<>\\]|\?(?![A-Za-z0-9_.%\[\]-]{1,80}=))*+")
_VALUE_IN_CODE = re.compile(r"[^&#?\s\"<>\\(){};'`]*")
_MARKS = "(){};'`"
"""They may stand in an address, and may end one that stands in code."""
_REST_OF_WORD = re.compile(r"[^\s\"<>\\]{0,2048}")
_LINE = re.compile(r"(?::\d{1,5}){1,2}\Z")
"""The line of a script, which may stand behind its address."""
_BEFORE_MEMBERS = frozenset("{};.")
"""What stands before a private member of a class in JavaScript, such as ``this.#token=null``."""
_CHOICE = re.compile(r"[\w$]+(?:\.[\w$]+)*+:[\w$.]+=")
"""The rest of a choice in code, as in ``r?t.token=r:t.token=null``."""
_LONGEST_WORD = 2048
"""Characters that are looked at before a field and behind it, to tell whether it stands in code."""
_INPUT = re.compile(r"<(?:input|meta)\b(?:[^>=]++|=\s*+(?:\"[^\"]*\"|'[^']*')|=)*+", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?<![^\s\"'/])([^\s\"'>/=]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']+))")
_IN_SELECTOR = re.compile(r"""([\w-]+)\s*[*^$~|]?=\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))""")
_CSS_ID = re.compile(r"#((?:[\w-]|\\.)+)")
_PART = re.compile(r"""\"[^\"]*\"|'[^']*'|[\[(\])/\s>+~]""")
_NAMING = ("name", "id", "aria-label", "placeholder", "title")
_FOR_TESTS = ("data-test", "data-qa", "data-cy")
SLUGS = {kind: kind.lower().replace(" ", "-") for kind in get_args(Kind)}
"""Kinds as the names of hidden values have them."""
HIDDEN = rf"\bremoved-(?:{'|'.join(SLUGS.values())})-\d+\b|<secret:[\w.-]+>|\[key\]"
"""Pattern of what stands for a hidden value."""
_OF_HIDDEN = rf"•{{2,}}|{HIDDEN}"
_NAMED = re.compile(r"<secret:([A-Za-z0-9_.-]+)>")


# What is secret


def kind_of_name(name: str, value: str, *, in_address: bool = False) -> Kind | None:
    """Return which kind of secret a value of such a name is, or None.

    The words of the name count, however they are joined: ``accessToken``, ``access-token`` and
    ``user[access_token]`` hold a token, ``tokens_used`` and ``token_type`` do not. Where a name is that of other things
    too, such as ``session``, or ``code`` in an address, the value has to look like a key.
    """
    kind, last, weak = _read_name(name)
    if weak:
        return "token" if is_key(value) and " " not in value else None
    if kind is None and in_address and last in _CODES and len(value) >= 16:
        return "token"
    return kind


@lru_cache(4096)
def _read_name(name: str) -> tuple[Kind | None, str, bool]:
    """Return the kind that a name tells, its last word, and whether the value has to look like a secret, too."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[-1] in _DESCRIBING or words[0] in _ASKING:
        return None, "", False
    joined = f"-{'-'.join(words)}-"
    ends = {joined.rfind(one) + len(one): kind for one, kind in _KINDS.items() if one in joined}
    if len(joined) not in ends:  # A PIN, but not a "pin location".
        ends = {end: kind for end, kind in ends.items() if kind != "PIN"}
    if ends:
        return ends[max(ends)], words[-1], False
    return None, words[-1], any(word in _WEAK_WORDS for word in words)


_KINDS: dict[str, Kind] = {f"-{one}-": kind for kind, names in _NAMES.items() for one in names.split()}
_WEAK_WORDS = frozenset(_WEAK.split())


def kind_of_header(name: str) -> Kind | None:
    """Return which kind of secret an HTTP header holds, or None."""
    kind, _, weak = _read_name(name)
    return _HEADERS.get(name.lower()) or kind or ("token" if weak else None)


def is_key(text: str) -> bool:
    """Return whether a key is long enough to be one: a word such as ``test`` may stand in any text.

    It has 20 characters, or 8 with a letter and a digit among them.
    """
    mixed = any(map(str.isdigit, text)) and any(map(str.isalpha, text))
    return len(text) >= 20 or (len(text) >= 8 and mixed)


def stands_out(value: str) -> bool:
    """Return whether a value is rare enough to be hidden wherever it stands.

    It has at least 4 letters and digits, 6 if it is a word or a number, 8 if it is several words, and is no word that
    stands in any text.
    """
    value = value.strip()
    held = sum(map(str.isalnum, value))
    if held < 4 or value.casefold() in _COMMON or is_placeholder(value):
        return False
    if not any(map(str.isalpha, value)):
        return held >= 6
    if value.isalpha():
        return held >= 6
    return held >= 8 or not value.replace(" ", "").isalpha()


def named(name: str) -> str:
    """Return what stands for a secret of a task, such as ``<secret:password>``."""
    return f"<secret:{name}>"


def variable_of(name: str) -> str:
    """Return the environment variable from which scripts and replays read a secret that the task does not declare."""
    return "BACKSTEP_SECRET_" + re.sub(r"\W", "_", name).upper()


def told_by(environment: str, instruction: str) -> frozenset[str]:
    """Return what a bundled task says in quotes: a seed makes it up, so it is no secret of anybody."""
    return quoted_in(instruction) if environment in ("miniwob", "shop", "airline") else frozenset()


def quoted_in(text: str) -> frozenset[str]:
    """Return what stands between double quotes in a text."""
    return frozenset(re.findall(r'"([^"\n]+)"', text))


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of a task's secrets that a text has in place of their values."""
    return tuple(_NAMED.findall(text))


def with_values(text: str, values: dict[str, str]) -> str:
    """Return a text with the values of the task's secrets in place of their names; raises KeyError for another name."""
    return _NAMED.sub(lambda found: values[found[1]], text)


def without_keys(text: str, keys: Iterable[str]) -> str:
    """Return `text` with ``[key]`` in place of each key."""
    for key in keys:
        text = text.replace(key, HIDDEN_KEY)
    return text


def has_key(text: str) -> bool:
    """Return whether a text has what looks like a key, a token or a password in an address."""
    return any(form.search(text) for _, form in FORMS)


def without_forms(text: str) -> str:
    """Return `text` with ``[key]`` in place of what looks like a key, a token or a password in an address."""
    for _, form in FORMS:
        text = form.sub(HIDDEN_KEY, text)
    return text


def without_key_forms(text: str) -> str:
    """Return `text` without anything that looks like the key of an LLM server."""
    return _KEY_IN_ERRORS.sub(lambda match: f"{match[1] or ''}{HIDDEN_KEY}", text)


# Where it is


class Place(NamedTuple):
    """A secret value in a text, by its name there."""

    start: int
    end: int
    kind: Kind
    value: str
    """Without the escapes of the text."""
    is_number: bool = False
    """Whether JSON has it as a number."""


def places_in(text: str) -> Iterator[Place]:
    """Yield the values that have telling names: of JSON, also of JSON in JSON, and of forms and addresses.

    A list, and ``{"name": …, "value": …}``, often only tell something about a secret: `_is_ordinary`. Of a value in an
    address with a bracket or quote in it, the part before that is yielded as well, after the whole one,
    where it may be a key.
    """
    for pair in _NAME_OF_PAIR.finditer(text):
        name, quote = pair["field"] or pair["name"], pair["quote"]
        kind, last, weak = _read_name(name)
        if kind is None and not weak:
            continue
        in_list = text.startswith("[", pair.end())
        places = _items_at(text, pair.end(), quote) if in_list else _value_at(text, pair.end(), quote)
        for start, end in places:
            value = text[start:end]
            is_number = not text.endswith(quote, 0, start)
            for _ in range(len(quote).bit_length()):
                value = _unescaped(value)
            if (in_list or pair["field"]) and (is_number or _is_ordinary(value, kind, last, in_list=in_list)):
                continue
            kind = kind_of_name(name, value)
            if kind is not None and not is_placeholder(value):
                yield Place(start, end, kind, value, is_number)
    for field in _FIELD.finditer(text):
        name = unquote_plus(field[1])
        kind, last, weak = _read_name(name)
        if kind is None and not weak and last not in _CODES:
            continue
        before = text[max(0, field.start() - 2) : field.start()]
        if before[:-1] in _BEFORE_MEMBERS and before.endswith("#"):
            continue
        for end in _ends_of_field(text, field):
            value = unquote_plus(text[field.end() : end])
            kind = kind_of_name(name, value, in_address=True)
            if kind is not None and not is_placeholder(value):
                yield Place(field.end(), end, kind, value)


def _is_ordinary(value: str, kind: Kind | None, last: str, *, in_list: bool) -> bool:
    """Return whether a string of a list, or of ``{"name": …, "value": …}``, is no secret, such as a message or role.

    `kind` and `last`, its last word, are of its name.
    """
    if in_list:
        opaque = value.isascii() and "_" not in value and any(map(str.isdigit, value)) and is_key(value)
        return " " in value or not (opaque or last == "passwords")
    return " " in value or (value.isalpha() if kind in _TYPED else not is_key(value))


def _ends_of_field(text: str, field: re.Match[str]) -> list[int]:
    """Return where the value of a form or an address ends; the farthest comes first.

    It ends at the first bracket or quote, and before punctuation unless another field follows. It may have some inside
    only where its address or form stands alone. It is none in a choice in code.
    """
    whole, short = (one.match(text, field.end()) for one in (_VALUE, _VALUE_IN_CODE))
    assert whole is not None
    assert short is not None
    if _CHOICE.match(short[0]):
        return []
    alone = short[0] and whole.end() > short.end() and _stands_alone(text, field.start(), whole.end())
    values = (whole[0], short[0]) if alone else (short[0],)
    ends: list[str] = []
    for value in values:
        shown = value
        if text.startswith('"', field.end() + len(value)):
            shown = value.rstrip(f"{_MARKS},.")
        elif not text.startswith("&", field.end() + len(value)):
            shown = _LINE.sub("", value.rstrip(f"{_MARKS},.:!*|…" + "]" * ("[" not in value)))
        if not ends or (len(shown) < len(ends[0]) and is_key(unquote_plus(shown))):
            ends.append(shown)
    return [field.end() + len(one) for one in ends]


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether the address of a field, or the form, is a whole text or all between two double quotes.

    It is not if there are marks of code in it before its parameters.
    """
    first = max(0, start - _LONGEST_WORD)
    first = max(first, *(text.rfind(one, first, start) + 1 for one in ' \t\n\r"<>\\'))
    before = text[first:start].partition("?")[0]
    if text[max(0, first - 1) : first] not in ("", '"') or any(one in before for one in _MARKS):
        return False
    rest = _REST_OF_WORD.match(text, end)
    return rest is not None and text[rest.end() : rest.end() + 1] in ("", '"', "\\")


def _items_at(text: str, at: int, quote: str) -> Iterator[tuple[int, int]]:
    """Yield where the strings and numbers begin and end with which a list begins."""
    while (before := _BEFORE_ITEM.match(text, at)) is not None:
        for start, end in _value_at(text, before.end(), quote):
            yield start, end
            at = end + len(quote) * text.startswith(quote, end)
        if at < before.end():
            return


def _value_at(text: str, at: int, quote: str) -> Iterator[tuple[int, int]]:
    """Yield where the string or number begins and ends that stands there; nothing for another value.

    A string that is cut off ends with the one around it, or in JSON with the line.
    """
    if not text.startswith(quote, at):
        number = _NUMBER.match(text, at)
        if number is not None and number[0] != "0":
            yield number.span()
        return
    start, unit = at + len(quote), 2 * len(quote)
    for found in _QUOTE.finditer(text, start):
        escapes = len(found[1]) % unit
        if escapes != unit - 1:  # It is no quote of the value itself.
            yield start, found.end() - 1 - escapes
            return
    if _JSON.match(text) and (rest := _REST_OF_LINE.match(text, start)):
        yield rest.span()


def is_placeholder(value: str) -> bool:
    """Return whether a value is nothing, bullets or a name that stands for a secret."""
    value = value.strip()
    return not value.strip("•") or re.fullmatch(HIDDEN, value) is not None


def placeholders_in(text: str) -> list[str]:
    """Return what may stand for something hidden in a text, in order; a single bullet does not."""
    return re.findall(_OF_HIDDEN, text)


def is_text_of(stored: str, text: str) -> bool:
    """Return whether a stored text is this one, but for what is hidden in it and not in the other."""
    if placeholders_in(stored) == placeholders_in(text):
        return stored == text
    first, *others = re.split(_OF_HIDDEN, stored)
    if not others:
        return False
    *others, last = others
    at, end = len(first), len(text) - len(last)
    if not (at <= end and text.startswith(first) and text.endswith(last)):
        return False
    for part in others:
        if (found := text.find(part, at, end)) < 0:
            return False
        at = found + len(part)
    return True


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def values_of_html(text: str) -> Iterator[tuple[Kind, str]]:
    """Yield what the fields of a document hold that are secret by type, autocomplete or name."""
    for field in _INPUT.findall(text):
        # As in a browser, the first counts of two attributes with one name.
        has = {name.lower(): html.unescape(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(field)[::-1]}
        value = has.get("value", "") or has.get("content", "")
        kind = kind_of_field(
            has.get("type", ""), has.get("autocomplete", ""), has.get("name", "") or has.get("id", "")
        )
        if kind is not None and not is_placeholder(value):
            yield kind, value


def kind_of_field(type: str, autocomplete: str, name: str) -> Kind | None:
    """Return which kind of secret a field of a page holds, or None."""
    if type.lower() == "password":
        return "password"
    for token in autocomplete.lower().split():
        if token in AUTOCOMPLETE:
            return AUTOCOMPLETE[token]
    return _read_name(name)[0] if type.lower() in ("", *SECRET_FIELDS["types"]) else None


def kind_of_attributes(has: Mapping[str, str], value: str) -> Kind | None:
    """Return which kind of secret a value is that was typed into a field with these attributes, or None."""
    names = (one for name, one in has.items() if name in _NAMING or name.startswith(_FOR_TESTS))
    kind = kind_of_field(has.get("type", ""), has.get("autocomplete", ""), "")
    return kind or next(filter(None, (kind_of_name(name, value) for name in names)), None)


def kind_of_selector(selector: str, value: str) -> Kind | None:
    """Return which kind of secret a value is that was typed into the field of a CSS selector or an XPath, or None.

    The attributes count that are in its last part, as the others are of what is around the field.
    """
    depth = start = 0
    for found in _PART.finditer(selector):
        if found[0] in ("[", "("):
            depth += 1
        elif found[0] in ("]", ")"):
            depth -= 1
        elif depth == 0 and len(found[0]) == 1:
            start = found.end()
    last = selector[start:]
    has = {"id": css_id[1]} if (css_id := _CSS_ID.search(last)) else {}
    has |= {name.lower(): a or b or c for name, a, b, c in _IN_SELECTOR.findall(last)}
    return kind_of_attributes(has, value)


AUTOCOMPLETE: dict[str, Kind] = {
    "current-password": "password",
    "new-password": "password",
    "one-time-code": "one-time code",
    "cc-number": "card number",
    "cc-csc": "card code",
    "cc-exp": "card date",
    "cc-exp-month": "card date",
    "cc-exp-year": "card date",
}
"""Words of ``autocomplete`` that make a field secret."""
SECRET_FIELDS = {
    "types": ("text", "password", "tel", "number", "email", "url", "search", "hidden"),
    "autocomplete": AUTOCOMPLETE,
    "names": _KINDS,
    "describing": sorted(_DESCRIBING),
    "asking": sorted(_ASKING),
}
"""The rule of `kind_of_field` for the reader of pages; `types` are those of an input that are looked at."""
