"""What is read from the messages that clients of the protocol send; those of Playwright are as it sent them."""

import asyncio
import time
from typing import Any

import pytest

from core.attach import page_acts
from core.attach.agent_connection import ActMessage
from core.attach.attachment import HeldAct
from core.attach.page_acts import ActPart, Fold, PageAct
from core.attach.scripts import script_of


def message(method: str, **params: Any) -> dict[str, Any]:
    return {"id": 1, "method": method, "params": params}


def read(message: dict[str, Any]) -> ActPart | None:
    return page_acts.read(message, script_of(message))


def mouse(kind: str, x: float = 10, y: float = 20, **more: Any) -> dict[str, Any]:
    return message("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)


def key(kind: str, name: str, text: str = "", modifiers: int = 0) -> dict[str, Any]:
    return message("Input.dispatchKeyEvent", type=kind, key=name, text=text, modifiers=modifiers)


def of_playwright(function: str, *given: dict[str, Any]) -> dict[str, Any]:
    declared = "(utilityScript, ...args) => utilityScript.evaluate(...args)"
    arguments = [
        {"objectId": "7"},
        {"value": True},
        {"value": True},
        {"value": function},
        {"value": 2},
        *given,
    ]
    return message("Runtime.callFunctionOn", functionDeclaration=declared, objectId="7", arguments=arguments)


def folded(*messages: dict[str, Any]) -> list[PageAct]:
    folds = list[Fold]()
    for one in messages:
        part = read(one)
        if part is not None and not (folds and folds[-1].takes(part)):
            folds.append(Fold(part))
    return [one.act for one in folds]


def test_moving_pressing_and_releasing_is_one_click() -> None:
    acts = folded(
        mouse("mouseMoved", buttons=0),
        mouse("mousePressed", button="left", buttons=1, clickCount=1),
        mouse("mouseReleased", button="left", buttons=0, clickCount=1),
    )
    assert acts == [PageAct(kind="click", x=10, y=20)]


GUARD = "([injected, node, { actionType, hitPoint, trial }]) => injected.setupHitTargetInterceptor(node, hitPoint)"


def guard(action: str = "mouse", *, trial: bool = False) -> dict[str, Any]:
    point = {"o": [{"k": "x", "v": 1}, {"k": "y", "v": 2}], "id": 3}
    values = [{"k": "actionType", "v": action}, {"k": "hitPoint", "v": point}, {"k": "trial", "v": trial}]
    given = {"a": [{"h": 0}, {"h": 1}, {"o": values, "id": 2}], "id": 1}
    return of_playwright(GUARD, {"value": given}, {"objectId": "8"}, {"objectId": "9"})


def test_a_click_of_playwright_begins_before_the_page_takes_no_other() -> None:
    part = read(guard())
    assert part == ActPart(act=PageAct(kind="click", x=1, y=2, objects=("9",)), begins=True, announces=True)
    right = mouse("mousePressed", button="right", clickCount=1), mouse("mouseReleased", clickCount=1)
    (act,) = folded(guard(), mouse("mouseMoved", buttons=0), *right)
    assert (act.button, act.x, act.y) == ("right", 10, 20)
    left = mouse("mousePressed", clickCount=1), mouse("mouseReleased", clickCount=1)
    assert len(folded(guard(), *left, guard(), *left)) == 2
    assert len(folded(guard(), guard(), *left)) == 2  # The first came to nothing.


def test_pointing_without_a_click_is_no_act() -> None:
    assert read(guard("hover")) is None
    assert read(guard(trial=True)) is None


def test_two_quick_clicks_are_a_double_click_and_two_slow_ones_are_two() -> None:
    press, release = mouse("mousePressed", clickCount=1), mouse("mouseReleased", clickCount=1)
    again = mouse("mousePressed", clickCount=2), mouse("mouseReleased", clickCount=2)
    assert [one.clicks for one in folded(press, release, *again)] == [2]
    assert len(folded(press, release, press, release)) == 2


def test_letters_and_inserted_text_are_typed_together_and_enter_is_a_press() -> None:
    acts = folded(
        message("Input.insertText", text="Ad"),
        key("keyDown", "a", "a"),
        key("keyUp", "a"),
        key("keyDown", "Enter", "\r"),
        key("keyUp", "Enter"),
        key("rawKeyDown", "a", modifiers=2),
    )
    assert [(one.kind, one.text) for one in acts] == [
        ("type", "Ada"),
        ("press", "Enter"),
        ("press", "Control+a"),
    ]


CLEARING = "function() { this.select(); this.value = ''; this.dispatchEvent(new Event('input')) }"
TELLING = "function() { element.focus(); element.dispatchEvent(new Event('change')) }"


def on_object(function: str) -> dict[str, Any]:
    return message("Runtime.callFunctionOn", functionDeclaration=function, objectId="9")


def test_keys_whose_letters_come_apart_are_typed_once() -> None:
    bus = [
        one
        for letter in "buss"
        for one in (
            key("keyDown", letter),
            message("Input.dispatchKeyEvent", type="char", text=letter),
            key("keyUp", letter),
        )
    ]
    assert [(one.kind, one.text) for one in folded(*bus)] == [("type", "buss")]
    assert [
        (one.kind, one.text) for one in folded(key("keyDown", "w"), key("keyUp", "w"), key("keyDown", "w"))
    ] == [("type", "ww")]


def test_emptying_a_field_and_telling_it_of_changes_belongs_to_typing() -> None:
    emptied = (
        key("rawKeyDown", "a", modifiers=2),
        key("keyUp", "a"),
        key("keyDown", "Backspace"),
        key("keyUp", "Backspace"),
    )
    typed = message("Input.insertText", text="tea")
    (act,) = folded(on_object(CLEARING), *emptied, typed, on_object(TELLING))
    assert (act.kind, act.text, act.objects) == ("type", "tea", ("9",))
    assert [one.kind for one in folded(*emptied, key("keyDown", "Enter", "\r"))] == ["press", "press"]
    assert [one.kind for one in folded(typed, key("keyDown", "Backspace"))] == ["type", "press"]
    assert [one.kind for one in folded(typed, on_object(CLEARING))] == ["type", "script"]
    assert len(folded(*emptied, typed, *emptied, typed)) == 2


def test_moving_with_the_button_down_is_a_drag() -> None:
    acts = folded(
        mouse("mousePressed", x=5, y=6, clickCount=1),
        mouse("mouseMoved", buttons=1),
        message("Input.dispatchDragEvent", type="drop", x=1, y=2),
    )
    assert acts == [PageAct(kind="drag", x=5, y=6, to_x=1, to_y=2)]


def test_turns_of_the_wheel_are_added() -> None:
    turn = mouse("mouseWheel", deltaX=0, deltaY=100)
    assert folded(turn, turn) == [PageAct(kind="scroll", x=10, y=20, dy=200)]


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (message("Page.navigate", url="http://shop/"), "goto"),
        (message("Page.navigateToHistoryEntry", entryId=4), "history"),
        (message("DOM.setFileInputFiles", files=["/a.txt"], objectId="3"), "upload"),
        (message("Target.createTarget", url="about:blank"), "new tab"),
        (
            of_playwright("async ([injected, node, options]) => injected.selectOptions(node, options)"),
            "select",
        ),
        (of_playwright("async ([injected, node, { value }]) => injected.fill(node, value)"), "type"),
        (of_playwright("([injected, node]) => injected.blurNode(node)"), "event"),
        (of_playwright("() => document.querySelector('a').click()"), "script"),
        (
            message(
                "Runtime.callFunctionOn", functionDeclaration="function() { this.click() }", objectId="9"
            ),
            "script",
        ),
        (message("Runtime.evaluate", expression="location.href = '/cart'"), "script"),
        (message("Runtime.evaluate", expression="input.value = 'Ada'"), "script"),
    ],
)
def test_it_is_known_what_acts(sent: dict[str, Any], kind: str) -> None:
    part = read(sent)
    assert part is not None
    assert part.act.kind == kind
    assert part.act.doubtful == (kind == "script")


@pytest.mark.parametrize(
    "sent",
    [
        message("Page.captureScreenshot"),
        message("DOM.getDocument"),
        of_playwright("([injected, node]) => { node.scrollIntoView(); return injected.elementState(node) }"),
        mouse("mouseMoved", buttons=0),
        {"id": 1, "method": "Page.enable"},
    ],
)
def test_what_only_reads_or_prepares_is_no_act(sent: dict[str, Any]) -> None:
    assert read(sent) is None


def test_a_script_for_new_pages_is_let_through_and_told() -> None:
    part = read(message("Page.addScriptToEvaluateOnNewDocument", source="order()"))
    assert part is not None
    assert (part.passes, str(part.act)) == (True, "script for each new page: order()")
    own = {"source": "1", "worldName": "__playwright_utility_world_page@1"}
    assert read(message("Page.addScriptToEvaluateOnNewDocument", **own)) is None


async def test_letters_that_come_late_on_a_busy_machine_are_of_the_same_act() -> None:
    def letter(text: str) -> ActMessage:
        part = read(key("keyDown", text, text))
        assert part is not None
        return ActMessage(tab="t", part=part)

    held = HeldAct(letter("R"))
    held.release()
    over = asyncio.ensure_future(held.over())
    for text in "ome":
        await asyncio.sleep(0)
        time.sleep(0.3)  # noqa: ASYNC251 - nothing runs meanwhile, longer than letters may stay away.
        await asyncio.sleep(0)
        assert not over.done()
        assert held.takes(letter(text))
    held.end()
    await over
    assert (held.act.kind, held.act.text) == ("type", "Rome")
