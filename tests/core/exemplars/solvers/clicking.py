"""Tasks that one look at the page decides, with clicks alone."""

from core.debugger.exemplars.scripted import Look, Script
from core.schema.observation import Observation
from tests.core.exemplars.solvers.page import (
    after,
    all_of,
    between,
    check,
    click,
    detailed,
    hover,
    quoted,
    select,
    the,
)


def click_button(instruction: str, page: Observation) -> Script:
    (name,) = quoted(instruction)
    yield Look(
        thought=f'The button must read "{name}" exactly, capitals included.',
        actions=(click(the(page, "button", name)),),
    )


def click_link(instruction: str, page: Observation) -> Script:
    (name,) = quoted(instruction)
    yield Look(
        thought=f'Links stand inside the text; the one wanted is spelled "{name}".',
        actions=(click(the(page, "generic", name)),),
    )


def click_checkboxes(instruction: str, page: Observation) -> Script:
    listed = between(instruction, "Select ", " and click Submit")
    names = [] if listed == "nothing" else listed.split(", ")
    submit = click(the(page, "button", "Submit"))
    thought = {
        0: "No box is to be ticked, so Submit is all there is to do.",
        1: f"One box is to be ticked, {listed}, and then Submit.",
    }.get(len(names), f"{len(names)} boxes are to be ticked and all are in view; Submit comes last.")
    boxes = (check(the(page, "checkbox", name)) for name in names)
    yield Look(thought=thought, actions=(*boxes, submit))


def click_option(instruction: str, page: Observation) -> Script:
    name = between(instruction, "Select ", " and click Submit")
    yield Look(
        thought=f"The choice is {name}; it is sent off with Submit.",
        actions=(click(the(page, "radio", name)), click(the(page, "button", "Submit"))),
    )


def choose_list(instruction: str, page: Observation) -> Script:
    name = between(instruction, "Select ", " from the list")
    yield Look(
        thought=f"{name} is an entry of the list; choose it there, then submit.",
        actions=(select(the(page, "combobox"), name), click(the(page, "button", "Submit"))),
    )


def use_spinner(instruction: str, page: Observation) -> Script:
    wanted = int(between(instruction, "Select ", " with"))
    buttons = [one for one in all_of(page, "button") if ".ui-spinner-button" in one.detail]
    button = next(
        one for one in buttons if (".ui-spinner-up" if wanted > 0 else ".ui-spinner-down") in one.detail
    )
    way = "up" if wanted > 0 else "down"
    yield Look(
        thought=f"The value is 0 and each press of the {way} button moves it by 1, "
        f"so it takes {abs(wanted)} of them.",
        actions=(*[click(button)] * abs(wanted), click(the(page, "button", "Submit"))),
        needs=(the(page, "spinbutton").ref,),
    )


_DIRECT = {"Reply": ".reply", "Retweet": ".retweet", "Like": ".like"}


def social_media(instruction: str, page: Observation) -> Script:
    user, (button,) = between(instruction, "user ", ","), quoted(instruction)
    author = the(page, "text", user)
    if button in _DIRECT:
        icon = after(page, author, lambda one: one in detailed(page, _DIRECT[button]))
        yield Look(
            thought=f"{button} is an icon below the post of {user}; icons change under the pointer, "
            "so point at it first.",
            actions=(hover(icon), click(icon)),
            needs=(author.ref,),
        )
        return
    more = after(page, author, lambda one: one in detailed(page, ".more"))
    page = yield Look(
        thought=f'"{button}" is no icon: it must be in the menu behind the last icon of the post of {user}.',
        actions=(hover(more), click(more)),
        needs=(author.ref,),
    )
    entry = next(one for one in all_of(page, "listitem") if one.name in (button, f"{button} {user}"))
    yield Look(thought=f'The menu is open and has "{entry.name}".', actions=(click(entry),))
