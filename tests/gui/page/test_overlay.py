from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QRectF, QSizeF

from core.debugger.live_page import OutlineView
from core.schema.observation import Box
from gui.page.overlay import place

ROOM = QRectF(0, 0, 640, 400)


def size(text: str, chosen: bool) -> QSizeF:
    return QSizeF(8 + 7 * len(text), 15)


@st.composite
def crowded(draw):
    count = draw(st.integers(1, 60))
    near = st.floats(-50, 700, allow_nan=False)
    return [
        OutlineView(
            ref=ref,
            box=Box(
                x=draw(near), y=draw(near), width=draw(st.floats(1, 300)), height=draw(st.floats(1, 300))
            ),
            chosen=ref == 1,
        )
        for ref in range(1, count + 1)
    ]


@given(crowded())
def test_numbers_stay_in_the_view_and_off_each_other(views):
    labels = [outline.label for outline in place(views, ROOM, size) if outline.label is not None]
    assert all(ROOM.contains(label) for label in labels)
    assert not any(one.intersects(other) for one, other in combinations(labels, 2))


@given(crowded())
@settings(max_examples=30)
def test_the_chosen_one_always_has_its_number(views):
    outlines = place(views, ROOM, size)
    chosen = [outline for outline in outlines if outline.chosen]
    assert all(outline.label is not None and outline.text == "1 next" for outline in chosen)
    assert outlines[:1] == chosen[:1] or not chosen


def test_a_box_outside_the_view_is_not_drawn():
    far = OutlineView(ref=4, box=Box(x=900, y=10, width=10, height=10))
    assert place([far], ROOM, size) == []


def test_a_number_stands_above_its_box_where_there_is_room():
    [outline] = place([OutlineView(ref=4, box=Box(x=50, y=50, width=80, height=30))], ROOM, size)
    assert outline.label is not None
    assert outline.label.bottom() <= 50


def test_a_number_at_the_upper_edge_goes_elsewhere_but_stays_visible():
    [outline] = place([OutlineView(ref=4, box=Box(x=-10, y=-5, width=80, height=30))], ROOM, size)
    assert outline.label is not None
    assert ROOM.contains(outline.label)
