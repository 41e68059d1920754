"""Regular expressions of files that people edit, matched by RE2: in time in proportion to the text, whatever they are.

They mean what they mean to Python: RE2 itself knows ASCII alone for ``\\w``, ``\\b`` and the like, and no halves of
surrogate pairs. So each character of a text is first replaced by one that stands for all characters between which the
expression makes no difference, and the expression is written with these.
"""

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import re2

# What Python's own matcher is made from; the modules have no public name.
compiler: Any = import_module("re._compiler")
parser: Any = import_module("re._parser")
ops: Any = import_module("re._constants")

LONGEST = 4000
"""Characters that an expression may have."""
_MEMORY = 8 << 20
"""Bytes that one may take."""
_INSTEAD = {
    ops.ASSERT: "look-around such as (?=…) is not supported; write what stands there as a part of the expression",
    ops.GROUPREF: "a reference to a group such as \\1 is not supported; write the group's expression again",
    ops.GROUPREF_EXISTS: "a condition such as (?(1)…) is not supported; write both ways as (?:…|…)",
    ops.ATOMIC_GROUP: "an atomic group (?>…) is not supported; write (?:…)",
    ops.POSSESSIVE_REPEAT: "a possessive repeat such as a++ is not supported; write a+",
}
_INSTEAD |= dict.fromkeys((ops.ASSERT_NOT, ops.FAILURE), _INSTEAD[ops.ASSERT])
_PLACES = {
    ops.AT_BEGINNING_STRING: r"\A",
    ops.AT_BOUNDARY: r"\b",
    ops.AT_NON_BOUNDARY: r"\B",
    ops.AT_END_STRING: r"\z",
}
_LOCAL = int(re.IGNORECASE | re.MULTILINE | re.DOTALL)
"""Flags that a group can turn off."""
_ALPHABETS = int(re.ASCII | re.UNICODE)
"""Flags of which a group has one."""
_NOTHING = r"[^\x{0}-\x{10FFFF}]"
_WORD = [chr(code) for code in range(128) if chr(code).isalnum() or chr(code) == "_"]
_OTHER = [chr(code) for code in range(128) if chr(code) not in {*_WORD, "\n"}]
_FURTHER = 0x100
"""The first of the characters that stand for others when the ASCII ones are used up."""


def re2_compiled(expression: str, memory: int) -> Any:
    """Return an expression of RE2's own; raises re2.error."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = memory
    return re2.compile(expression, options)


@lru_cache(maxsize=1024)
def expression_problem(expression: str) -> str:
    """Return why a text cannot be used as a regular expression, as the end of a sentence, or nothing."""
    try:
        compiled(expression)
    except ValueError as error:
        return str(error)
    return ""


@lru_cache(maxsize=1024)
def compiled(expression: str, flags: int = 0) -> "Matcher":
    """Return what matches an expression, with the flags of Python's `re`; raises ValueError."""
    if len(expression) > LONGEST:
        raise ValueError(f"it has {len(expression)} characters, but at most {LONGEST} are allowed")
    try:
        return Matcher(expression, flags)
    except (re.error, OverflowError) as error:
        raise ValueError(f"it is not a regular expression ({error})") from error
    except RecursionError as error:
        raise ValueError("its groups are nested too deep") from error
    except re2.error as error:
        raise ValueError(
            "it is too large; repeat a part at most 1000 times, and less if parts are nested"
        ) from error


@dataclass(frozen=True)
class ExpressionMatch:
    """Where an expression was found."""

    text: str
    """What it matches."""
    named: dict[str, str | None]
    """What its named groups match; None for one that took no part."""


class Matcher:
    """One expression; create it by `compiled`."""

    def __init__(self, expression: str, flags: int) -> None:
        """Raises re.error, re2.error, OverflowError, RecursionError, and ValueError for what is not supported."""
        tree = parser.parse(expression, flags)
        self._state, flags = tree.state, tree.state.flags
        self._single: dict[tuple[Any, str, int], int] = {}
        self._matches: list[re.Pattern[str]] = []
        """What each part of one character matches."""
        self._parts = tuple(self._sequence(tree, flags))
        self._is_word = re.compile(r"\w", flags & re.ASCII)
        self._stands: dict[tuple[bool, ...], str] = {}
        """The character for all that the same parts match."""
        self._table = _Table(self._stand_in)
        self._lock = threading.Lock()
        self._compiled: Any = None
        self._mapped("".join(map(chr, range(128))) + expression)
        self._whole()
        words = {stand for (_, word, *_), stand in self._stands.items() if word}
        if len(words) > len(_WORD) and not {r"\b", r"\B"}.isdisjoint(self._parts):
            raise ValueError(
                f"it has \\b and more than {len(_WORD)} different letters; write several expressions"
            )

    def search(self, text: str) -> ExpressionMatch | None:
        """Return the first place where it is found."""
        mapped = self._mapped(text)
        match = self._whole().search(mapped)
        if match is None:
            return None
        named = {
            name: text[slice(*match.span(number))] if match.span(number)[0] >= 0 else None
            for name, number in self._state.groupdict.items()
        }
        return ExpressionMatch(text[slice(*match.span())], named)

    def fullmatch(self, text: str) -> bool:
        """Return whether it matches all of the text."""
        mapped = self._mapped(text)
        return self._whole().fullmatch(mapped) is not None

    def sub(self, replacement: str, text: str) -> str:
        """Return the text with the replacement, as it is, in each place where it is found."""
        mapped = self._mapped(text)
        kept, at = [], 0
        for match in self._whole().finditer(mapped):
            start, end = match.span()
            kept += [text[at:start], replacement]
            at = end
        return "".join((*kept, text[at:]))

    # The characters

    def _mapped(self, text: str) -> str:
        return text.translate(self._table)

    def _stand_in(self, code: int) -> str:
        """Return the character that stands for another."""
        sign = chr(code)
        word = self._is_word.match(sign) is not None
        fits = (sign == "\n", word, *(one.match(sign) is not None for one in self._matches))
        with self._lock:
            if fits not in self._stands:
                used = {*self._stands.values()}
                free = (one for one in (_WORD if word else _OTHER) if one not in used)
                further = chr(_FURTHER + len(used))
                self._stands[fits] = "\n" if sign == "\n" else next(free, further)
                self._compiled = None
            return self._stands[fits]

    def _whole(self) -> Any:
        with self._lock:
            if self._compiled is None:
                sets = [self._set(number) for number in range(len(self._matches))]
                text = "".join(sets[part] if isinstance(part, int) else part for part in self._parts)
                self._compiled = re2_compiled(text, _MEMORY)
            return self._compiled

    def _set(self, number: int) -> str:
        signs = [sign for fits, sign in self._stands.items() if fits[number + 2]]
        return "[" + "".join(rf"\x{{{ord(sign):x}}}" for sign in signs) + "]" if signs else _NOTHING

    # The expression

    def _sequence(self, nodes: Iterable[tuple[Any, Any]], flags: int) -> Iterable["int | str"]:
        """Yield the text for RE2, with numbers in place of the parts that match one character."""
        for kind, value in nodes:
            if kind in _INSTEAD:
                raise ValueError(_INSTEAD[kind])
            if kind is ops.SUBPATTERN:
                group, added, removed, inner = value
                yield "(" if group else "(?:"
                kept = flags & ~_ALPHABETS if added & _ALPHABETS else flags
                yield from self._sequence(inner, (kept | added) & ~removed)
                yield ")"
            elif kind is ops.BRANCH:
                for number, one in enumerate(value[1]):
                    yield "|" if number else "(?:"
                    yield from self._sequence(one, flags)
                yield ")"
            elif kind in (ops.MAX_REPEAT, ops.MIN_REPEAT):
                low, high, inner = value
                yield "(?:"
                yield from self._sequence(inner, flags)
                yield f"){{{low},{'' if high is ops.MAXREPEAT else high}}}"
                yield "?" if kind is ops.MIN_REPEAT else ""
            elif kind is ops.AT:
                yield _place(value, flags)
            else:
                yield self._one(kind, value, flags)

    def _one(self, kind: Any, value: Any, flags: int) -> int:
        key = (kind, repr(value), flags)
        if key not in self._single:
            self._single[key] = len(self._matches)
            part = parser.SubPattern(self._state, [(kind, value)])
            scoped = [(ops.SUBPATTERN, (None, flags, _LOCAL & ~flags, part))]
            self._matches.append(compiler.compile(parser.SubPattern(self._state, scoped), flags))
        return self._single[key]


class _Table(dict[int, str]):
    """Asks once for each character."""

    def __init__(self, ask: Any) -> None:
        super().__init__()
        self._ask = ask

    def __missing__(self, code: int) -> str:
        stand: str = self._ask(code)
        self[code] = stand
        return stand


def _place(value: Any, flags: int) -> str:
    many = flags & re.MULTILINE
    if value is ops.AT_BEGINNING:
        return "(?m:^)" if many else r"\A"
    if value is ops.AT_END:
        return "(?m:$)" if many else r"(?:\n?\z)"
    return _PLACES[value]
