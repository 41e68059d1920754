"""Tasks whose answer is worked out from what the page shows: numbers, orders, tables, and moments to wait for."""

import math
import re

from core.debugger.exemplars.scripted import Look, Script
from core.schema.action import Press, Wait
from core.schema.observation import Element, Observation
from tests.core.exemplars.solvers.drawing import handles, middle, submit
from tests.core.exemplars.solvers.page import (
    after,
    all_of,
    between,
    check,
    click,
    detailed,
    place,
    quoted,
    the,
    write,
)

NUMBER = re.compile(r"-?\d+")


def texts(page: Observation) -> list[str]:
    return [one.name for one in page.elements[1:] if one.role == "text"]


def wait(seconds: float) -> str:
    return str(Wait(seconds=seconds))


def answer(page: Observation, text: str, thought: str) -> Look:
    """Type the answer into the only field, and submit it."""
    field = next(one for one in page.elements if one.role in ("textbox", "spinbutton"))
    return Look(thought=thought, actions=(write(field, text), submit(page)))


def ascending_numbers(instruction: str, page: Observation) -> Script:
    numbers = sorted((one for one in page.elements if one.name.isdigit()), key=lambda one: int(one.name))
    page = yield Look(thought="The smallest; it hides the others.", actions=(click(numbers[0]),))
    for number in numbers[1:]:
        hidden = [one for one in page.elements if one.detail.startswith("black rectangle")]
        box = min(hidden, key=lambda one: math.dist(middle(one.box), middle(number.box)))
        page = yield Look(thought="The next larger one was here.", actions=(click(box),))


def button_delay(instruction: str, page: Observation) -> Script:
    seconds = int(between(instruction, "wait ", " second"))
    first, second = all_of(page, "button")
    yield Look(thought="The first.", actions=(click(first), wait(seconds), click(second)))


def click_color(instruction: str, page: Observation) -> Script:
    colour = between(instruction, "Click on the ", " colored")
    boxes = detailed(page, ".color")[-4:]
    named = [one for one in boxes if one.detail.startswith(f"{colour},")]
    # White is no colour that is told: it is the box without one.
    chosen = named or [one for one in boxes if one.detail.startswith(".")]
    if not chosen:
        raise LookupError(f"no box is told to be {colour}, but {', '.join(one.detail for one in boxes)}")
    box = chosen[0]
    yield Look(thought="That colour.", actions=(click(box),))


def copy_paste_2(instruction: str, page: Observation) -> Script:
    number = place(between(instruction, "from the ", " text area"))
    fields = all_of(page, "textbox")
    yield Look(thought="The same words.", actions=(write(fields[-1], fields[number - 1].value), submit(page)))


def enter_text_2(instruction: str, page: Observation) -> Script:
    (word,) = quoted(instruction)
    yield answer(page, word.upper() if "upper" in instruction else word.lower(), "Its letters changed.")


def find_greatest(instruction: str, page: Observation) -> Script:
    cards = [one for one in page.elements if one.role == "generic" and NUMBER.fullmatch(one.name)]
    card = max(cards, key=lambda one: int(one.name))
    yield Look(thought="The greatest.", actions=(click(card), submit(page)))


def form_sequence(instruction: str, page: Observation) -> Script:
    wanted = int(between(instruction, "Select ", " with"))
    number = place(between(instruction, "click the ", " checkbox"))
    page = yield Look(thought="The keys go to the handle.", actions=(click(handles(page)[0]),))
    now = int(after(page, handles(page)[0], lambda one: one.role == "text").name)
    if now != wanted:
        key = str(Press(keys="ArrowRight" if wanted > now else "ArrowLeft"))
        page = yield Look(thought="A key is one step.", actions=(key,) * abs(wanted - now))
    yield Look(thought="The box.", actions=(check(all_of(page, "checkbox")[number - 1]), submit(page)))


def form_sequence_2(instruction: str, page: Observation) -> Script:
    radio = place(between(instruction, "the ", " radio"))
    number = place(between(instruction, "into the ", " textbox"))
    field = all_of(page, "textbox")[number - 1]
    actions = (
        check(all_of(page, "radio")[radio - 1]),
        write(field, quoted(instruction)[0]),
        submit(page),
    )
    yield Look(thought="As it is said.", actions=actions)


def generate_number(instruction: str, page: Observation) -> Script:
    limit = int(NUMBER.findall(instruction)[0])
    kinds = {"less": lambda n: n < limit, "greater": lambda n: n > limit}
    fits = next((test for word, test in kinds.items() if word in instruction), None) or (
        lambda n: n % 2 == ("odd" in instruction)
    )
    while True:
        page = yield Look(thought="Another number.", actions=(click(the(page, "button", "Generate")),))
        found = [int(text) for text in texts(page) if NUMBER.fullmatch(text)]
        if found and fits(found[0]):
            yield Look(thought="It fits.", actions=(submit(page),))
            return


def grid_coordinate(instruction: str, page: Observation) -> Script:
    x, y = (int(one) for one in NUMBER.findall(between(instruction, "(", ")")))
    dots = [one for one in page.elements if "circle" in one.detail]
    columns = sorted({round(middle(one.box)[0]) for one in dots})
    rows = sorted({round(middle(one.box)[1]) for one in dots}, reverse=True)
    wanted = (columns[x + 2], rows[y + 2])
    dot = next(one for one in dots if tuple(round(part) for part in middle(one.box)) == wanted)
    yield Look(thought="That crossing.", actions=(click(dot),))


def guess_number(instruction: str, page: Observation) -> Script:
    low, high = 0, 9
    while True:
        guess = (low + high) // 2
        page = yield answer(page, str(guess), "The middle of what is left.")
        said = " ".join(texts(page)).lower()
        if "lower" not in said and "higher" not in said:
            return
        low, high = (low, guess - 1) if "lower" in said else (guess + 1, high)


def multi_layouts(instruction: str, page: Observation) -> Script:
    found = re.search(r"for (.+) movies directed by (.+) from year (\d+)", instruction)
    assert found is not None
    given = {"Genre": found[1], "Director": found[2], "Year": found[3]}
    actions = []
    for name, text in given.items():
        label = next(one for one in page.elements[1:] if one.name.strip(":").lower() == name.lower())
        field = label if label.role == "textbox" else after(page, label, lambda one: one.role == "textbox")
        actions.append(write(field, text))
    button = next(one for one in page.elements if one.name == "Submit")
    yield Look(thought="Each into its field.", actions=(*actions, click(button)))


def odd_or_even(instruction: str, page: Observation) -> Script:
    actions = []
    for number in [one for one in page.elements[1:] if one.role == "text" and NUMBER.fullmatch(one.name)]:
        at = page.elements.index(number)
        odd, even = page.elements[at - 1], page.elements[at + 1]
        actions.append(click(odd if int(number.name) % 2 else even))
    yield Look(thought="Each on its side.", actions=(*actions, submit(page)))


def phone_book(instruction: str, page: Observation) -> Script:
    name = between(instruction, "Find ", " in the")
    wanted = re.search(r"their (phone number|phone|email|address)", instruction)
    assert wanted is not None
    while not all_of(page, "heading", name):
        page = yield Look(thought="The next page.", actions=(click(the(page, "link", ">")),))
    label = f"{wanted[1].removesuffix(' number').capitalize()}:"
    yield Look(
        thought="There it is.",
        actions=(click(after(page, the(page, "text", label), lambda one: one.role == "generic")),),
    )


def read_table(instruction: str, page: Observation) -> Script:
    name = between(instruction, "value of ", " into")
    value = after(page, the(page, "cell", name), lambda one: one.role == "cell").name
    yield answer(page, value, "The cell beside it.")


def read_table_2(instruction: str, page: Observation) -> Script:
    names = re.findall(r"value that corresponds with each label", instruction) and [
        one.name.rstrip(":") for one in page.elements[1:] if one.role == "text" and one.name.endswith(":")
    ]
    fields = all_of(page, "textbox")
    actions = [
        write(field, after(page, the(page, "cell", name), lambda one: one.role == "cell").name)
        for field, name in zip(fields, names or (), strict=True)
    ]
    yield Look(thought="Each from its cell.", actions=(*actions, submit(page)))


def scroll_text_2(instruction: str, page: Observation) -> Script:
    field = the(page, "textbox")
    end = "Control+End" if "bottom" in instruction else "Control+Home"
    yield Look(thought="Its end.", actions=(click(field), str(Press(keys=end)), submit(page)))


def simple_algebra(instruction: str, page: Observation) -> Script:
    term = next(text for text in texts(page) if "x" in text and re.search(r"\d", text))
    left, right = (side.replace(" ", "") for side in term.split("="))
    for x in range(-500, 500):
        one, other = (_sum(side.replace("x", f"({x})" if x < 0 else str(x))) for side in (left, right))
        if one == other:
            yield answer(page, str(x), "It makes both sides equal.")
            return


def _sum(term: str) -> int:
    found = re.fullmatch(r"\(?(-?\d+)\)?(?:([-+x*])\(?(-?\d+)\)?)?", term)
    if found is None:
        raise LookupError(f"{term!r} is no sum")
    first, sign, second = int(found[1]), found[2], int(found[3] or 0)
    return {None: first, "+": first + second, "-": first - second}.get(sign, first * second)


def simple_arithmetic(instruction: str, page: Observation) -> Script:
    term = next(text for text in texts(page) if "=" in text)
    yield answer(page, str(_sum(term.split("=")[0].replace(" ", ""))), "The result.")


def social_media_some(instruction: str, page: Observation) -> Script:
    user = re.search(r"by (@\w+)", instruction)
    (button,) = quoted(instruction)
    count = re.search(r"on (\d+) post", instruction)
    assert user is not None
    kind = {"Share": ".share", "Like": ".like", "Retweet": ".retweet", "Reply": ".reply"}[button]
    posts = all_of(page, "text", user[1])[: int(count[1]) if count else None]
    clicks = [click(after(page, one, lambda part: part in detailed(page, kind))) for one in posts]
    yield Look(thought="Under each of those.", actions=(*clicks, submit(page)))


def stock_market(instruction: str, page: Observation) -> Script:
    limit = float(between(f"{instruction} ", "less than $", " ").rstrip("."))
    while True:
        price = next((text for text in texts(page) if text.startswith("$")), "$inf")
        if float(price[1:]) < limit:
            yield Look(thought="It is low enough.", actions=(click(the(page, "button", "Buy")),))
            return
        page = yield Look(thought="It is too dear still.", actions=(wait(0.1),))


def text_transform(instruction: str, page: Observation) -> Script:
    yield answer(page, "".join(texts(page)), "Its letters in their order.")


def count_shape(instruction: str, page: Observation) -> Script:
    found = re.search(r"How many (?:(large|small) )?(?:(\w+) )?(\w+?)s? are there", instruction)
    assert found is not None
    size, colour, kind = found.groups()
    shapes = [one for one in page.elements[1:] if one.role in ("graphics-symbol", "generic")]
    count = sum(_is(one, size, colour, kind) for one in shapes)
    yield Look(thought="So many.", actions=(click(the(page, "button", str(count))),))


def _is(shape: Element, size: str | None, colour: str | None, kind: str) -> bool:
    large = max(shape.box.width, shape.box.height) > 14
    kinds = {
        "letter": shape.name.isalpha(),
        "digit": shape.name.isdigit(),
        "triangle": "polygon" in shape.detail or "path" in shape.detail or "triangle" in shape.detail,
    }
    fits = kind in ("item", "shape") or kinds.get(kind, kind in shape.detail)
    return fits and (not size or (size == "large") == large) and (not colour or colour in shape.detail)
