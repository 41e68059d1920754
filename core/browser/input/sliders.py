"""Sets a slider to a value with its keys, as far as possible."""

import re
from collections.abc import Awaitable, Callable

from core.schema.errors import ActionError
from core.schema.record import Record

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_ROUNDS = 60
"""How often the slider is looked at on its way; it is given several keys between two looks where it has far to go."""
_KEYS = 40
"""The most keys between two looks."""
_NEAR = 1e-9
_FORWARD = {True: ("PageUp", "ArrowRight", "ArrowUp"), False: ("PageDown", "ArrowLeft", "ArrowDown")}
"""The keys that raise and lower a value, the one that goes farthest first; sliders may know only some."""


class SliderPlace(Record):
    """The value and the range of a slider, if it reports them."""

    now: float | None
    least: float | None
    most: float | None
    text: str
    """What it shows for its value; empty if that is the number."""

    @property
    def said(self) -> str:
        return self.text or ("no value" if self.now is None else f"{self.now:g}")


async def bring_to(
    text: str,
    what: str,
    stand: Callable[[], Awaitable[SliderPlace]],
    press: Callable[[str, int], Awaitable[None]],
) -> str:
    """Press keys until the slider that has the focus is at `text`, and return what it shows there.

    `what` names the slider in messages. Raises ActionError with its value if it does not get there.
    """
    place = await stand()
    if place.text and place.text == text.strip():
        return place.said
    numbers = _NUMBER.findall(text)
    if len(numbers) != 1:
        raise ActionError(f'{what} is a slider; "{text}" is not a number.')
    wanted = float(numbers[0])
    if place.now is None:
        raise ActionError(f"{what} does not report its value, so it cannot be set; press arrow keys on it.")
    if (place.least is not None and wanted < place.least) or (place.most is not None and wanted > place.most):
        ends = f"from {_number(place.least)} to {_number(place.most)}"
        raise ActionError(
            f"{what} cannot be set to {wanted:g}: its values are {ends}. It is still at {place.said}."
        )
    await _approach(wanted, place, stand, press)
    place = await stand()
    if place.now is None or abs(place.now - wanted) > _NEAR:
        raise ActionError(f"{what} cannot be set to {wanted:g} with its keys; it is now at {place.said}.")
    return place.said


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"


async def _approach(
    wanted: float,
    place: SliderPlace,
    stand: Callable[[], Awaitable[SliderPlace]],
    press: Callable[[str, int], Awaitable[None]],
) -> None:
    """Press the key that goes farthest without passing `wanted`, until it is reached or every key would pass it."""
    steps: dict[str, float] = {}  # what a key changes, signed, as was seen last
    ends = {"Home": place.least, "End": place.most}
    for _ in range(_ROUNDS):
        now = place.now
        if now is None or abs(now - wanted) <= _NEAR:
            return
        key = next((end for end, value in ends.items() if value == wanted and end not in steps), None)
        key = key or _key_to(wanted - now, steps)
        if key is None:
            return
        step = abs(steps.get(key, 0.0))
        times = max(1, min(_KEYS, int(abs(wanted - now) / step + _NEAR))) if step > _NEAR else 1
        await press(key, times)
        place = await stand()
        steps[key] = ((place.now if place.now is not None else now) - now) / times


def _key_to(distance: float, steps: dict[str, float]) -> str | None:
    """Return a key that is not known to pass the value or to go the other way; a key not tried yet is as good."""
    for key in (*_FORWARD[distance > 0], *_FORWARD[distance < 0]):
        step = steps.get(key)
        if step is None:
            return key
        if abs(step) > _NEAR and (step > 0) == (distance > 0) and abs(step) <= abs(distance) + _NEAR:
            return key
    return None
