"""The exemplars and the policy of a prompt as items: finds them in edited messages, and rearranges them."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from core.schema.messages import Message, PromptPart
from core.schema.record import Record

Traced = tuple[int | None, Message]
"""A message as it is now, with the place it had before it was edited; None for one that is new."""
Content: TypeAlias = str | tuple[Message, ...]
"""What a part of a prompt says: messages, or words of one."""


class Item(Record):
    """A part of the prompt, with its present place."""

    part: PromptPart
    """With places in the messages as they are now; only of use where it is not lost."""
    state: Literal["as sent", "edited", "lost"] = "as sent"
    """``edited``: changed by hand, but still found. ``lost``: no longer found."""


def found_again(
    before: Sequence[Message], parts: Sequence[PromptPart], now: Sequence[Traced]
) -> tuple[Item, ...]:
    """Return the parts with their present places in the messages, exemplars in order.

    Messages are found by their origin, parts of a text by their exact text; changed text is not guessed.
    """
    items = [_found(before, part, now) for part in parts]
    rank = {"policy": 0, "exemplars": 1, "exemplar": 2}
    return tuple(
        sorted(
            items,
            key=lambda item: (rank[item.part.kind], item.state == "lost", item.part.message, item.part.start),
        )
    )


def _found(before: Sequence[Message], part: PromptPart, now: Sequence[Traced]) -> Item:
    lost = Item(part=part, state="lost")
    if part.messages:
        wanted = list(range(part.message, part.message + part.messages))
        places = [at for at, (origin, _) in enumerate(now) if origin in wanted]
        if [now[at][0] for at in places] != wanted or places != list(
            range(places[0], places[0] + len(places))
        ):
            return lost
        same = all(now[at][1] == before[origin] for at, origin in zip(places, wanted, strict=True))
        moved = part.replace(message=places[0])
        return Item(part=moved, state="as sent" if same else "edited")
    places = [at for at, (origin, _) in enumerate(now) if origin == part.message]
    if len(places) != 1:
        return lost
    text, words = now[places[0]][1].text, before[part.message].text[part.start : part.end]
    start = part.start if text == before[part.message].text else text.find(words)
    if start < 0 or (text != before[part.message].text and text.count(words) != 1):
        return lost
    return Item(part=part.replace(message=places[0], start=start, end=start + len(words)))


def content_of(messages: Sequence[Message], part: PromptPart) -> Content:
    """Return what a part says: messages, or words of one."""
    if part.messages:
        return tuple(messages[part.message : part.message + part.messages])
    return messages[part.message].text[part.start : part.end]


class Arranged(Record):
    """A prompt with its parts after a change."""

    messages: tuple[Message, ...]
    parts: tuple[PromptPart, ...]


def dropped(messages: Sequence[Message], items: Sequence[Item], at: int) -> Arranged:
    """Leave out an exemplar; with the last one the text around them goes too."""
    return _arranged(
        messages, items, [exemplar for exemplar in _exemplars(items) if exemplar is not items[at]], {}
    )


def moved(messages: Sequence[Message], items: Sequence[Item], at: int, offset: int) -> Arranged:
    """Let an exemplar and its neighbour change places; there has to be one that can be told apart."""
    order = _exemplars(items)
    place = order.index(items[at])
    order[place], order[place + offset] = order[place + offset], order[place]
    return _arranged(messages, items, order, {})


def switched(
    messages: Sequence[Message],
    items: Sequence[Item],
    at: int,
    part: PromptPart,
    content: Content,
) -> Arranged:
    """Put another exemplar, which `part` names, in the place of one."""
    return _arranged(messages, items, _exemplars(items), {id(items[at]): (part, content)})


def rewritten(messages: Sequence[Message], items: Sequence[Item], at: int, words: str) -> Arranged:
    """Put other words in the place of a part of a text, such as those of a policy."""
    part = items[at].part
    found, shift = list(messages), len(words) - (part.end - part.start)
    text = found[part.message].text
    found[part.message] = found[part.message].replace(text=text[: part.start] + words + text[part.end :])
    parts: list[PromptPart] = []
    for item in items:
        other = item.part
        if item.state == "lost":
            continue
        if item is items[at]:
            other = other.replace(end=other.end + shift)
        elif not other.messages and other.message == part.message and other.start >= part.end:
            other = other.replace(start=other.start + shift, end=other.end + shift)
        parts.append(other)
    return Arranged(messages=tuple(found), parts=tuple(parts))


def _exemplars(items: Sequence[Item]) -> list[Item]:
    return [item for item in items if item.part.kind == "exemplar" and item.state != "lost"]


def _arranged(
    messages: Sequence[Message],
    items: Sequence[Item],
    order: Sequence[Item],
    instead: dict[int, tuple[PromptPart, Content]],
) -> Arranged:
    """Put the exemplars of `order` into the places that exemplars have now; places left over go."""
    slots = _exemplars(items)
    contents = [instead.get(id(item), (item.part, content_of(messages, item.part))) for item in order]
    others = [item.part for item in items if item.part.kind != "exemplar" and item.state != "lost"]
    if slots and slots[0].part.messages:
        return _in_messages(messages, others, slots, contents)
    return _in_text(messages, others, slots, contents)


def _in_messages(
    messages: Sequence[Message],
    others: Sequence[PromptPart],
    slots: Sequence[Item],
    contents: Sequence[tuple[PromptPart, Content]],
) -> Arranged:
    found: list[Message] = []
    parts: list[PromptPart] = []
    places: dict[int, int] = {}

    def keep(start: int, end: int) -> None:
        for old in range(start, end):
            places[old] = len(found)
            found.append(messages[old])

    at = 0
    for number, slot in enumerate(slots):
        keep(at, slot.part.message)
        at = slot.part.message + slot.part.messages
        if number < len(contents):
            part, content = contents[number]
            assert not isinstance(content, str)
            parts.append(part.replace(message=len(found), messages=len(content)))
            found += content
    keep(at, len(messages))
    kept = [other.replace(message=places[other.message]) for other in others]
    return Arranged(messages=tuple(found), parts=(*kept, *parts))


def _in_text(
    messages: Sequence[Message],
    others: Sequence[PromptPart],
    slots: Sequence[Item],
    contents: Sequence[tuple[PromptPart, Content]],
) -> Arranged:
    around = next((one for one in others if one.kind == "exemplars"), None)
    message = slots[0].part.message
    text = messages[message].text
    if not contents and around is not None:
        cut = text[: around.start] + text[around.end :]
        return Arranged(
            messages=_with_text(messages, message, cut),
            parts=tuple(one for one in others if one is not around),
        )
    made, at = "", 0
    parts: list[PromptPart] = []
    for number, slot in enumerate(slots):
        made += text[at : slot.part.start]
        at = slot.part.end
        if number < len(contents):
            part, content = contents[number]
            assert isinstance(content, str)
            parts.append(
                part.replace(
                    message=message,
                    messages=0,
                    start=len(made),
                    end=len(made) + len(content),
                )
            )
            made += content
    made += text[at:]
    shift = len(made) - len(text)
    first = slots[0].part.start
    kept = []
    for other in others:
        if other.message == message and not other.messages and other.end > first:
            later = other.start >= slots[-1].part.end
            other = other.replace(start=other.start + (shift if later else 0), end=other.end + shift)
        kept.append(other)
    return Arranged(messages=_with_text(messages, message, made), parts=(*kept, *parts))


def _with_text(messages: Sequence[Message], at: int, text: str) -> tuple[Message, ...]:
    return (*messages[:at], messages[at].replace(text=text), *messages[at + 1 :])
