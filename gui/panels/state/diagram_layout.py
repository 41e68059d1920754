"""The positions of the boxes, labels and lines of a diagram: layers from top to bottom.

Every layer of boxes is followed by one of labels, and a line that passes through a layer has its own place in it,
so nothing overlaps.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Pair = tuple[str, str]

_GAP = 16.0
"""Gap between neighbours in a layer."""
_ROW = 17.0
"""Gap between layers."""
_PASS = 6.0
"""Width of a line that only passes through a layer."""
_SWEEPS = 6


@dataclass
class BoxPlace:
    """A box, a label, or the point where a line passes through a layer; x and y are its centre."""

    width: float
    height: float
    layer: int
    x: float = 0.0
    y: float = 0.0
    above: "list[BoxPlace]" = field(default_factory=list)
    below: "list[BoxPlace]" = field(default_factory=list)


@dataclass(frozen=True)
class Layout:
    """The place of each state by its name, and for each edge the place of its label and the points of its line."""

    boxes: Mapping[str, BoxPlace]
    labels: Mapping[Pair, BoxPlace]
    lines: Mapping[Pair, tuple[tuple[float, float], ...]]
    width: float
    height: float


def lay_out(boxes: Mapping[str, tuple[float, float]], labels: Mapping[Pair, tuple[float, float]]) -> Layout:
    """Return a layout for boxes of these sizes, and for edges given by their ends and the sizes of their labels.

    The first box is at the top; in cycles, the edges that lead back are drawn upwards. Edges from a box to itself
    have no line. Both ends of each edge must be among the boxes.
    """
    edges = [pair for pair in labels if pair[0] != pair[1]]
    back = _backward(list(boxes), edges)
    layers_of = _layers(list(boxes), [pair[::-1] if pair in back else pair for pair in edges])
    placed = {name: BoxPlace(*size, layer=2 * layers_of[name]) for name, size in boxes.items()}
    names: dict[Pair, BoxPlace] = {}
    chains: dict[Pair, list[BoxPlace]] = {}
    for pair in edges:
        top, bottom = (placed[name] for name in (pair[::-1] if pair in back else pair))
        named_at = bottom.layer - 1 if pair in back else top.layer + 1
        chain = [top]
        for layer in range(top.layer + 1, bottom.layer):
            size = labels[pair] if layer == named_at else (_PASS, 0.0)
            chain.append(BoxPlace(*size, layer=layer))
        chain.append(bottom)
        for upper, lower in itertools.pairwise(chain):
            upper.below.append(lower)
            lower.above.append(upper)
        names[pair] = chain[named_at - top.layer]
        chains[pair] = chain
    rows = _rows([*placed.values(), *(place for chain in chains.values() for place in chain[1:-1])])
    _order(rows)
    _set_across(rows)
    height = _set_down(rows)
    left = min((place.x - place.width / 2 for row in rows for place in row), default=0.0)
    right = max((place.x + place.width / 2 for row in rows for place in row), default=0.0)
    for row in rows:
        for place in row:
            place.x -= left
    lines = {pair: _line(chain, upward=pair in back) for pair, chain in chains.items()}
    return Layout(placed, names, lines, right - left, height)


def _backward(names: Sequence[str], edges: Sequence[Pair]) -> set[Pair]:
    """Return the edges that lead back to a box on the current path of a walk from the first box."""
    following: dict[str, list[str]] = {name: [] for name in names}
    for source, target in edges:
        following[source].append(target)
    back: set[Pair] = set()
    seen: set[str] = set()
    for first in names:
        if first in seen:
            continue
        seen.add(first)
        on_way = {first}
        walk = [(first, iter(following[first]))]
        while walk:
            name, others = walk[-1]
            for other in others:
                if other in on_way:
                    back.add((name, other))
                elif other not in seen:
                    seen.add(other)
                    on_way.add(other)
                    walk.append((other, iter(following[other])))
                    break
            else:
                on_way.discard(name)
                walk.pop()
    return back


def _layers(names: Sequence[str], downward: Iterable[Pair]) -> dict[str, int]:
    """Return each box's layer: one below the lowest box that leads to it."""
    pairs = list(downward)
    layers = dict.fromkeys(names, 0)
    for _ in names:
        moved = False
        for source, target in pairs:
            if layers[target] <= layers[source]:
                layers[target] = layers[source] + 1
                moved = True
        if not moved:
            break
    return layers


def _rows(places: Iterable[BoxPlace]) -> list[list[BoxPlace]]:
    rows: dict[int, list[BoxPlace]] = {}
    for place in places:
        rows.setdefault(place.layer, []).append(place)
    return [rows[layer] for layer in sorted(rows)]


def _order(rows: list[list[BoxPlace]]) -> None:
    """Sort each layer by the positions of its neighbours, downwards and upwards, to reduce crossing lines."""
    at = {id(place): position for row in rows for position, place in enumerate(row)}
    for sweep in range(_SWEEPS):
        downward = sweep % 2 == 0
        for row in rows if downward else reversed(rows):

            def wanted(place: BoxPlace, downward: bool = downward) -> float:
                others = place.above if downward else place.below
                if not others:
                    return float(at[id(place)])
                return sum(at[id(other)] for other in others) / len(others)

            row.sort(key=wanted)
            for position, place in enumerate(row):
                at[id(place)] = position


def _set_across(rows: list[list[BoxPlace]]) -> None:
    """Set the x of each place: near its neighbours, in the order of its layer, with a gap between."""
    for row in rows:
        _pack(row, [0.0] * len(row))
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = []
            for place in row:
                others = [*place.above, *place.below]
                wanted.append(sum(other.x for other in others) / len(others) if others else place.x)
            _pack(row, wanted)


def _pack(row: list[BoxPlace], wanted: Sequence[float]) -> None:
    edge = float("-inf")
    for place, x in zip(row, wanted, strict=True):
        place.x = max(x, edge + place.width / 2)
        edge = place.x + place.width / 2 + _GAP
    shift = sum(place.x - x for place, x in zip(row, wanted, strict=True)) / max(1, len(row))
    for place in row:
        place.x -= shift


def _set_down(rows: list[list[BoxPlace]]) -> float:
    y = 0.0
    for row in rows:
        tall = max(place.height for place in row)
        for place in row:
            place.y = y + tall / 2
        y += tall + _ROW
    return max(0.0, y - _ROW)


def _line(chain: Sequence[BoxPlace], *, upward: bool) -> tuple[tuple[float, float], ...]:
    """Return the points of a line from box to box; each end has its own place on the box's border."""
    top, bottom = chain[0], chain[-1]
    points = [(_port(top, top.below, chain[1]), top.y + top.height / 2)]
    for place in chain[1:-1]:
        points += [(place.x, place.y - place.height / 2), (place.x, place.y + place.height / 2)]
    points.append((_port(bottom, bottom.above, chain[-2]), bottom.y - bottom.height / 2))
    return tuple(reversed(points)) if upward else tuple(points)


def _port(box: BoxPlace, others: Sequence[BoxPlace], other: BoxPlace) -> float:
    ordered = sorted(others, key=lambda place: place.x)
    turn = next(at for at, place in enumerate(ordered) if place is other)
    return box.x - box.width / 2 + box.width * (turn + 1) / (len(ordered) + 1)
