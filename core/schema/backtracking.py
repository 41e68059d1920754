"""Finds regular expressions that can take exponentially long, before they are used.

Python's matcher tries one way after the other and cannot be interrupted. Where a loop can match a text in two
ways, it tries 2^n ways for n turns before it gives up: ``(a+)+$`` needs hours for 40 letters. That is so
exactly where the automaton of the expression has a state with two different paths back to itself over the
same text (Weber and Seidl, "On the degree of ambiguity of finite automata", 1991, criterion EDA), which is
looked for here in the automaton of the expression's characters (Glushkov's). Expressions that take polynomial
time, such as ``.*a.*b``, are allowed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

parser: Any = import_module("re._parser")
ops: Any = import_module("re._constants")
# What the matcher itself is made from; the modules have no public name.

LONGEST = 4000
"""Characters that an expression may have."""
_COPIED = 8
"""Up to so many times a part that is repeated is written out; above, it counts as a loop."""
_LARGEST_LOOP = 100
"""Characters of an expression that may lie in one loop: their pairs are looked at."""


@lru_cache(maxsize=1024)
def expression_problem(expression: str) -> str:
    """Return why a text cannot be used as a regular expression, as the end of a sentence, or nothing."""
    if len(expression) > LONGEST:
        return f"it has {len(expression)} characters, but at most {LONGEST} are allowed"
    try:
        re.compile(expression)
        automaton = _Automaton(expression)
    except (re.error, OverflowError) as error:
        return f"it is not a regular expression ({error})"
    except RecursionError:
        return "its groups are nested too deep"
    except _TooLargeError:
        return "its repeated part is too large"
    return automaton.problem()


_MOST_STATES = 5000


class _TooLargeError(Exception):
    pass


class _Part(NamedTuple):
    """A part of the expression: the characters it may begin and end with, each as often as there are ways to it."""

    first: tuple[int, ...]
    last: tuple[int, ...]
    empty: int
    """In how many ways it may match nothing; 2 stands for more as well."""


_NOTHING = _Part((), (), 1)


def _part(first: Iterable[int], last: Iterable[int], empty: int) -> _Part:
    """Return a part in which nothing counts more than twice: two ways are as bad as many."""
    twice = [
        tuple(state for state, ways in Counter(states).items() for _ in range(min(ways, 2)))
        for states in (first, last)
    ]
    return _Part(twice[0], twice[1], min(empty, 2))


class _Automaton:
    """A state for each character of the expression; parts that are matched separately have their own states."""

    def __init__(self, expression: str) -> None:
        tree = parser.parse(expression)
        self._signs = _signs_of(expression)
        self._matched: list[frozenset[str]] = []
        """What each state matches, of `_signs`."""
        self._next: list[Counter[int]] = []
        """The states that may follow each, and in how many ways."""
        self._repeats_nothing = False
        self._sequence(tree, tree.state.flags)

    def problem(self) -> str:
        if self._repeats_nothing:
            return _TOO_LONG
        for loop in _loops([list(one) for one in self._next]):
            if any(self._next[one][other] > 1 for one in loop for other in loop):
                return _TOO_LONG
            if len(loop) > _LARGEST_LOOP:
                return f"one of its loops has {len(loop)} characters, but at most {_LARGEST_LOOP} are checked"
            if self._has_two_ways(loop):
                return _TOO_LONG
        return ""

    def _has_two_ways(self, loop: list[int]) -> bool:
        """Return whether a state comes back to itself over one text by two paths, all within the loop."""
        inside = set(loop)
        pairs = [(one, other) for one in loop for other in loop if self._matched[one] & self._matched[other]]
        numbers = {pair: number for number, pair in enumerate(pairs)}
        following = [
            [
                numbers[after]
                for after in (
                    (a, b) for a in self._next[one] if a in inside for b in self._next[other] if b in inside
                )
                if after in numbers
            ]
            for one, other in pairs
        ]
        for found in _loops(following):
            ways = [pairs[number] for number in found]
            if any(one == other for one, other in ways) and any(one != other for one, other in ways):
                return True
        return False

    # From the tree to states

    def _sequence(self, nodes: Iterable[tuple[Any, Any]], flags: int) -> _Part:
        whole = _NOTHING
        for kind, value in nodes:
            part = self._node(kind, value, flags)
            self._join(whole.last, part.first)
            whole = _part(
                (*whole.first, *part.first * whole.empty),
                (*part.last, *whole.last * part.empty),
                whole.empty * part.empty,
            )
        return whole

    def _join(self, before: Iterable[int], after: Iterable[int]) -> None:
        for one in before:
            self._next[one].update(after)

    def _node(self, kind: Any, value: Any, flags: int) -> _Part:
        if kind is ops.SUBPATTERN:
            _, added, removed, inner = value
            return self._sequence(inner, (flags | added) & ~removed)
        if kind is ops.BRANCH:
            return self._either([self._sequence(one, flags) for one in value[1]])
        if kind is ops.GROUPREF_EXISTS:
            return self._either(
                [self._sequence(one, flags) for one in value[1:] if one is not None] + [_NOTHING]
            )
        if kind in (ops.MAX_REPEAT, ops.MIN_REPEAT):
            return self._repeat(*value, flags=flags)
        if kind in (ops.POSSESSIVE_REPEAT, ops.ATOMIC_GROUP):
            # What they have matched is not tried again: for what is around, they are passed once.
            low, inner = (value[0], value[2]) if kind is ops.POSSESSIVE_REPEAT else (1, value)
            if kind is ops.POSSESSIVE_REPEAT:
                self._repeat(*value, flags=flags)
            part = self._sequence(inner, flags)
            return part._replace(empty=int(part.empty > 0 or low == 0))
        if kind in (ops.ASSERT, ops.ASSERT_NOT):
            self._sequence(value[1], flags)
            return _NOTHING
        if kind is ops.AT:
            return _NOTHING
        one_of = tuple(value) if kind is ops.IN else ((kind, value),)
        matched = frozenset(self._signs) if kind is ops.GROUPREF else _matched(one_of, flags, self._signs)
        if len(self._matched) >= _MOST_STATES:
            raise _TooLargeError
        self._matched.append(matched)
        self._next.append(Counter())
        state = (len(self._matched) - 1,)
        return _Part(state, state, int(kind is ops.GROUPREF))

    def _either(self, parts: list[_Part]) -> _Part:
        return _part(
            (one for part in parts for one in part.first),
            (one for part in parts for one in part.last),
            sum(part.empty for part in parts),
        )

    def _repeat(self, low: int, high: int, inner: Any, *, flags: int) -> _Part:
        if high == 0:
            return _NOTHING
        if high <= _COPIED:
            # Written out as a(a(a)?)?: where one turn is missed, those after it are.
            whole = _NOTHING
            for number in range(high, 0, -1):
                part = self._sequence(inner, flags)
                self._join(part.last, whole.first)
                whole = _part(
                    (*part.first, *whole.first * part.empty),
                    (*whole.last, *part.last * whole.empty),
                    part.empty * whole.empty + (number > low),
                )
                self._repeats_nothing |= high > 1 and not part.first
            return whole
        part = self._sequence(inner, flags)
        self._repeats_nothing |= not part.first
        self._join(part.last, part.first)
        if part.empty and high is not ops.MAXREPEAT:
            self._join(part.last, part.first)  # Each turn may be used up by matching nothing.
        return part._replace(empty=min(part.empty + (low == 0), 2))


_TOO_LONG = (
    "it can take exponentially long, because one of its loops can match the same text in two ways; "
    "make the repeated parts distinguishable, as in (?:word,)+ and not (?:\\w+,?)+"
)


def _signs_of(expression: str) -> tuple[str, ...]:
    """Return characters that tell apart what parts of the expression match."""
    around = {chr(max(0, ord(sign) + by)) for sign in expression for by in (-1, 0, 1) if ord(sign) < 0x10FFFF}
    others = {*(one.swapcase()[:1] for one in around), *"\0\n \t-_09azAZ~\u00e9\u00c9\u0660\u4e00\u2028"}
    return tuple(sorted(around | others))


@lru_cache(maxsize=512)
def _matched(items: tuple[tuple[Any, Any], ...], flags: int, signs: tuple[str, ...]) -> frozenset[str]:
    """Return which of `signs` a part of one character matches, which is one of `items`."""
    if items and items[0][0] is ops.ANY:
        return frozenset(sign for sign in signs if sign != "\n" or flags & re.DOTALL)

    def fits(sign: str) -> bool:
        cases = {sign, sign.swapcase()[:1]} if flags & re.IGNORECASE else {sign}
        return any(_fits(item, case, flags) for item in items for case in cases)

    if items and items[0][0] is ops.NEGATE:
        items = items[1:]
        return frozenset(sign for sign in signs if not fits(sign))
    return frozenset(sign for sign in signs if fits(sign))


def _fits(item: tuple[Any, Any], sign: str, flags: int) -> bool:
    kind, value = item
    if kind is ops.LITERAL:
        return bool(ord(sign) == value)
    if kind is ops.NOT_LITERAL:
        return bool(ord(sign) != value)
    if kind is ops.RANGE:
        return bool(value[0] <= ord(sign) <= value[1])
    escape = _CATEGORIES[value]
    return re.match(escape, sign, flags & re.ASCII) is not None


_CATEGORIES = {
    ops.CATEGORY_DIGIT: r"\d",
    ops.CATEGORY_NOT_DIGIT: r"\D",
    ops.CATEGORY_SPACE: r"\s",
    ops.CATEGORY_NOT_SPACE: r"\S",
    ops.CATEGORY_WORD: r"\w",
    ops.CATEGORY_NOT_WORD: r"\W",
}


def _loops(following: list[list[int]]) -> Iterator[list[int]]:
    """Yield the strongly connected parts of a graph that hold a cycle (Tarjan's algorithm, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    on_path: set[int] = set()
    for root in range(len(following)):
        if root in order:
            continue
        waiting = [(root, iter(following[root]))]
        order[root] = low[root] = len(order)
        path.append(root)
        on_path.add(root)
        while waiting:
            at, rest = waiting[-1]
            step = next(rest, None)
            if step is None:
                waiting.pop()
                if waiting:
                    low[waiting[-1][0]] = min(low[waiting[-1][0]], low[at])
                if low[at] == order[at]:
                    part = path[path.index(at) :]
                    del path[-len(part) :]
                    on_path.difference_update(part)
                    if len(part) > 1 or at in following[at]:
                        yield part
            elif step not in order:
                order[step] = low[step] = len(order)
                path.append(step)
                on_path.add(step)
                waiting.append((step, iter(following[step])))
            elif step in on_path:
                low[at] = min(low[at], order[step])
