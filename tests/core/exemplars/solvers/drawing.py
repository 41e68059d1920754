"""Tasks that are about places, words or the mouse itself: where in a drawing, from where to where, which letters."""

import math
import re

from core.debugger.exemplars.scripted import Look, Script
from core.schema.action import Click, Drag, Hover, RefTarget, SelectText
from core.schema.observation import Box, Element, Observation
from tests.core.exemplars.solvers.page import after, all_of, between, click, detailed, the
from tests.core.exemplars.solvers.page import place as place_of

Point = tuple[float, float]

DRAWN_BESIDE = 2
"""CSS pixels by which the drawing tasks put a point to the right of and below the click."""


def submit(page: Observation) -> str:
    return click(the(page, "button", "Submit"))


def middle(box: Box) -> Point:
    return box.x + box.width / 2, box.y + box.height / 2


def place(element: Element, point: Point) -> str:
    """Return a point of the window as a place of the element."""
    across, down = (
        (point[0] - element.box.x) / element.box.width,
        (point[1] - element.box.y) / element.box.height,
    )
    return f"{min(max(across, 0), 1):.4f},{min(max(down, 0), 1):.4f}"


def click_in(element: Element, point: Point) -> str:
    return str(Click(target=RefTarget(ref=element.ref), at=place(element, point)))


def draw(element: Element, start: Point, end: Point, to: Element | None = None) -> str:
    to = to or element
    action = Drag(
        target=RefTarget(ref=element.ref),
        to=RefTarget(ref=to.ref),
        from_at=place(element, start),
        to_at=place(to, end),
    )
    return str(action)


def select_text(element: Element, text: str = "") -> str:
    return str(SelectText(target=RefTarget(ref=element.ref), text=text))


def drawing(page: Observation) -> Element:
    return next(one for one in page.elements if one.tag == "svg" and "click" in one.uses)


def circles(page: Observation, colour: str) -> list[Point]:
    return [middle(one.box) for one in page.elements if one.detail.startswith(f"{colour} circle")]


def put_point(page: Observation, point: Point, thought: str) -> Script:
    target = (point[0] - DRAWN_BESIDE, point[1] - DRAWN_BESIDE)
    yield Look(thought=thought, actions=(click_in(drawing(page), target), submit(page)))


def bisect_angle(instruction: str, page: Observation) -> Script:
    (corner,), (one, other) = circles(page, "blue"), circles(page, "black")
    directions = [
        ((x - corner[0]) / length, (y - corner[1]) / length)
        for x, y in (one, other)
        for length in (math.dist((x, y), corner),)
    ]
    across, down = sum(x for x, _ in directions), sum(y for _, y in directions)
    length = math.hypot(across, down) or 1
    reach = min(math.dist(corner, one), math.dist(corner, other)) / 2
    yield from put_point(
        page,
        (corner[0] + across / length * reach, corner[1] + down / length * reach),
        "Half way between the lines.",
    )


def right_angle(instruction: str, page: Observation) -> Script:
    (corner,), (end,) = circles(page, "blue"), circles(page, "black")
    box = drawing(page).box
    turned = ((corner[1] - end[1]) / 2, (end[0] - corner[0]) / 2)
    for sign in (1, -1):
        x, y = corner[0] + sign * turned[0], corner[1] + sign * turned[1]
        if box.x + 5 < x < box.x + box.width - 5 and box.y + 5 < y < the(page, "button", "Submit").box.y - 5:
            yield from put_point(page, (x, y), "A line turned by a quarter.")
            return
    yield from put_point(page, (corner[0] + turned[0] / 4, corner[1] + turned[1] / 4), "A short one fits.")


def find_midpoint(instruction: str, page: Observation) -> Script:
    one, other = circles(page, "black")
    yield from put_point(page, ((one[0] + other[0]) / 2, (one[1] + other[1]) / 2), "Half way.")


def circle_center(instruction: str, page: Observation) -> Script:
    (circle,) = [one for one in page.elements if one.tag == "circle"]
    yield from put_point(page, middle(circle.box), "The middle of its box is its centre.")


def hot_cold(instruction: str, page: Observation) -> Script:
    (area,) = detailed(page, "#touch-area")
    near = [(x, y) for y in range(2, 124, 4) for x in range(2, 154, 4)]
    best: Point | None = None
    while near:
        x, y = near[len(near) // 2] if best is None else near[0]
        at = place(area, (area.box.x + x, area.box.y + y))
        page = yield Look(
            thought="The signal tells how far the place is.",
            actions=(str(Hover(target=RefTarget(ref=area.ref), at=at)),),
        )
        says = next(
            (one.name for one in page.elements if one.name in ("HOT", "WARM", "COLD", "ICE COLD")), ""
        )
        if says == "HOT":
            yield Look(
                thought="It is hot here.", actions=(str(Click(target=RefTarget(ref=area.ref), at=at)),)
            )
            return
        nearest, farthest = {"WARM": (4, 11), "COLD": (9, 41), "ICE COLD": (39, 999)}[says]
        near = [one for one in near if nearest <= math.dist(one, (x, y)) <= farthest and one != (x, y)]
        best = (x, y)
        near.sort(key=lambda one: abs(math.dist(one, (80, 62))))


def draw_line(instruction: str, page: Observation) -> Script:
    surface, ((x, y),) = drawing(page), circles(page, "purple")
    line = ((x - 20, y), (x + 20, y)) if "horizontal" in instruction else ((x, y - 20), (x, y + 20))
    yield Look(thought="Straight through the dot.", actions=(draw(surface, *line), submit(page)))


def drag_shape(instruction: str, page: Observation) -> Script:
    shape = next(one for one in page.elements if "drag" in one.uses)
    x, y = middle(shape.box)
    way = re.search(r"\b(left|right|up|down)\b", instruction)
    assert way is not None
    across, down = {"left": (-25, 0), "right": (25, 0), "up": (0, -25), "down": (0, 25)}[way[1]]
    paper = next(one for one in page.elements if one.tag == "svg")
    yield Look(
        thought="A pull in the direction asked for.",
        actions=(draw(shape, (x, y), (x + across, y + down), paper), submit(page)),
    )


def resize_textarea(instruction: str, page: Observation) -> Script:
    (frame,) = detailed(page, ".ui-wrapper")
    box, query = frame.box, page.elements[0]
    corner = (box.x + box.width - 5, box.y + box.height - 5)
    smaller = "smaller" in instruction
    if smaller:
        yield Look(thought="Its corner goes in.", actions=(draw(frame, corner, middle(box)), submit(page)))
        return
    wide = "width" in instruction
    side = (
        (box.x + box.width - 1, box.y + box.height / 2)
        if wide
        else (box.x + box.width / 2, box.y + box.height - 1)
    )
    to = query if wide else the(page, "button", "Submit")
    end = (to.box.x + to.box.width - 1, side[1]) if wide else (side[0], to.box.y + to.box.height)
    yield Look(thought="Its side goes out.", actions=(draw(frame, side, end, to), submit(page)))


def highlight_text(instruction: str, page: Observation) -> Script:
    text = next(one for one in page.elements[1:] if one.role == "text")
    yield Look(thought="All of it is wanted.", actions=(select_text(text), submit(page)))


def highlight_text_2(instruction: str, page: Observation) -> Script:
    number = int(between(instruction, "in the ", " paragraph")[0])
    paragraph = all_of(page, "paragraph")[number - 1]
    yield Look(thought="All of that paragraph.", actions=(select_text(paragraph), submit(page)))


def text_editor(instruction: str, page: Observation) -> Script:
    editor = the(page, "textbox")
    single = re.search(r"the text (\S+) the (?:style|color)", instruction)
    chosen = select_text(editor, single[1] if single else "")
    style = re.search(r"\b(bold|italics|underlined)\b", instruction)
    if style:
        (button,) = detailed(
            page, {"bold": ".ql-bold", "italics": ".ql-italic", "underlined": ".ql-underline"}[style[1]]
        )
        yield Look(thought="Mark it, then give it the style.", actions=(chosen, click(button), submit(page)))
        return
    colour = between(f"{instruction} ", "the color ", " ").strip(".")
    (picker,) = detailed(page, ".ql-picker-label")
    page = yield Look(thought="Mark it, then open the colours.", actions=(chosen, click(picker)))
    wanted = ["red", "orange", "yellow", "green", "blue", "purple"].index(colour)
    swatches = detailed(page, ".ql-picker-item")
    yield Look(
        thought="The second row has the plain colours.", actions=(click(swatches[1 + wanted]), submit(page))
    )


def drag_box(instruction: str, page: Observation) -> Script:
    small, large = the(page, "generic", "s"), the(page, "generic", "L")
    into = draw(small, middle(small.box), middle(large.box), large)
    yield Look(thought="Middle upon middle.", actions=(into, submit(page)))


def drag_shapes(instruction: str, page: Observation) -> Script:
    """Put the shapes that are asked for into the first box, and any others into the second where there is one."""
    shapes = [one for one in page.elements if "drag" in one.uses]
    paper = next(one for one in page.elements if one.tag == "svg")
    boxes = sorted(
        (one for one in page.elements if one.detail.startswith("black rectangle") and one not in shapes),
        key=lambda one: one.box.x,
    )
    wanted = between(instruction, "all ", " into").rstrip("s")
    counts = [0, 0]
    actions = []
    for shape in shapes:
        goes = 0 if f" {wanted} " in f"{shape.detail.replace('×', ' ')} " else 1
        if goes >= len(boxes):
            continue
        box = boxes[goes].box
        end = (box.x + 12 + counts[goes] % 3 * 20, box.y + 12 + counts[goes] // 3 * 20)
        counts[goes] += 1
        actions.append(draw(shape, middle(shape.box), end, paper))
    yield Look(thought="Each to a free place of its box.", actions=(*actions, submit(page)))


def use_slider(instruction: str, page: Observation) -> Script:
    numbers = [int(one) for one in re.findall(r"-?\d+", instruction)]
    for place_, number in enumerate(numbers):
        handle = handles(page)[place_]
        page = yield Look(thought="The keys go to the handle.", actions=(click(handle),))
        now = int(after(page, handles(page)[place_], lambda one: one.role == "text").name)
        if now != number:
            key = "ArrowRight" if number > now else "ArrowLeft"
            page = yield Look(thought="A key is one step.", actions=(f"press [{key}]",) * abs(number - now))
    yield Look(thought="All are set.", actions=(submit(page),))


def handles(page: Observation) -> list[Element]:
    return [one for one in page.elements if ".ui-slider-handle" in one.detail]


def drag_sort_numbers(instruction: str, page: Observation) -> Script:
    names = [one.name for one in all_of(page, "listitem")]
    for position, name in enumerate(sorted(names, key=int)):
        items = all_of(page, "listitem")
        if items[position].name == name:
            continue
        item, there = next(one for one in items if one.name == name), items[position]
        up = (there.box.x + there.box.width / 2, there.box.y + 2)
        page = yield Look(
            thought=f"{name} belongs higher up.", actions=(draw(item, middle(item.box), up, there),)
        )
    yield Look(thought="They are in order.", actions=(submit(page),))


def drag_items(instruction: str, page: Observation) -> Script:
    name, position = (
        between(instruction, "Drag ", " to the "),
        place_of(between(instruction, " to the ", " position")),
    )
    items = all_of(page, "listitem")
    item, there = next(one for one in items if one.name == name), items[position - 1]
    edge = 0.1 if item.box.y > there.box.y else 0.9
    end = (there.box.x + there.box.width / 2, there.box.y + there.box.height * edge)
    yield Look(
        thought="Past the middle of what is there.", actions=(draw(item, middle(item.box), end, there),)
    )
