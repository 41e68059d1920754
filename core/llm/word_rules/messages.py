"""Requests about messages: who wrote, who is to get it, and what is to become of it, in free words."""

import re

from core.llm.word_rules.intent import Intent, Objective

_MESSAGE = re.compile(r"\b(?:e-?mails?|mails?|messages?|inbox|conversation|letter|note)\b", re.IGNORECASE)
_FORWARD = re.compile(
    r"\b(?:forward(?:ed)?|pass(?:ed)?|give|send|sent|relay|deliver|share|redirect)\b", re.IGNORECASE
)
_PLAIN_FORWARD = re.compile(r"\bforward", re.IGNORECASE)
_REPLY = re.compile(r"\b(?:reply|respond|response|answer|write back)\b", re.IGNORECASE)
_DELETE = re.compile(
    r"\b(?:delete[ds]?|trash|remove[ds]?|erase[ds]?|discard|get rid|bin|junk|dispose)\b", re.IGNORECASE
)
_STAR = re.compile(r"\b(?:star(?:red)?|important|favou?rite|importance|flag)\b", re.IGNORECASE)
_NAME = r"(@?[A-Z][\w-]+)"
_NOT_NAMES = frozenset(
    re.findall(
        r"\S+",
        "find give send forward reply please can could i you the my look locate go open delete in search "
        "mark star read respond remove email emails inbox i'd would click navigate get pass re fwd take show "
        "let move choose select trash make for to from and want need answer tell message help write",
    )
)


def read_message_request(text: str) -> Objective | None:
    """Return what a request about messages asks for, or None where it is not about messages."""
    quoted = re.search(r'"(.*)"|“(.*)”', text)
    bare = text.replace(quoted[0], '""') if quoted else text
    said = (quoted[1] or quoted[2]) if quoted else ""
    names = _names(bare)
    if not _MESSAGE.search(bare) and not (
        len(names) == 2 and _FORWARD.search(bare) and _sent_by(bare, names)
    ):
        return None
    verb = _verb(bare, names, said)
    if verb is None:
        return None
    if verb == "reply" and not said:
        bare, said = _unquoted_text(bare)
        names = [name for name in names if name in bare]
    sender, receiver = _who(bare, names, verb)
    if not sender:
        return None
    intents = [Intent(kind="click", verb=verb, names=(verb,), text=text, subject=sender)]
    if verb == "forward":
        if not receiver:
            return None
        intents.append(Intent(kind="fill", verb="enter", field="to", value=receiver, text=text))
    if verb == "reply":
        intents.append(Intent(kind="fill", verb="enter", field="message", value=said, text=text))
    if verb in ("reply", "forward"):
        intents.append(Intent(kind="click", verb="send", names=("send",), text=text))
    return Objective(text=text, intents=tuple(intents), subject=sender)


def _names(bare: str) -> list[str]:
    """Return the names of people; a first word counts only where it does something, as in: Ann wants …"""
    found: list[str] = []
    for match in re.finditer(_NAME, bare):
        first = match.start() == 0 or bare[: match.start()].rstrip().endswith((".", "!", "?"))
        after = bare[match.end() :]
        if first and not re.match(
            r"['’]s\b|\s+(?:is|was|wants?|needs?|should|would|must|sent|wrote)\b", after
        ):
            continue
        if match[1].casefold() not in _NOT_NAMES:
            found.append(match[1])
    return list(dict.fromkeys(found))


def _verb(bare: str, names: list[str], said: str) -> str | None:
    """Return what is to become of the message; one text for one person is a reply, two people a forward."""
    if _DELETE.search(bare):
        return "delete"
    if _PLAIN_FORWARD.search(bare):
        return "forward"
    if _REPLY.search(bare):
        return "reply"
    if _STAR.search(bare):
        return "star"
    if said and len(names) == 1:
        return "reply"
    return "forward" if len(names) == 2 else None


def _unquoted_text(bare: str) -> tuple[str, str]:
    """Split off the words to write where they stand without quotes, after a colon or a with or saying."""
    for pattern in (
        r":\s*(.+)$",
        r"\b(?:with|saying|say|says|write)\s+(?:the\s+(?:text|message|words?)\s+)?(.+)$",
    ):
        if match := re.search(pattern, bare, re.IGNORECASE):
            return bare[: match.start()], match[1].strip()
    return bare, ""


def _who(bare: str, names: list[str], verb: str) -> tuple[str, str]:
    """Return who wrote the message and who is to get it."""
    if not names:
        return "", ""
    if verb != "forward":
        return names[0], ""
    sender = _sent_by(bare, names)
    any_name = "|".join(re.escape(name) for name in names)
    to = re.search(
        rf"\bto\s+({any_name})\b|\b(?:give|send|forward|pass|let|show|make sure)\s+({any_name})\b"
        rf"|\bfor\s+({any_name})\b|\b({any_name})\s+(?:should|needs?|wants?|must|is waiting|would)",
        bare,
        re.IGNORECASE,
    )
    receiver = next((one for one in to.groups() if one), "") if to else ""
    if sender == receiver:
        receiver = ""
    others = [name for name in names if name not in (sender, receiver)]
    if not receiver and others:
        receiver = others.pop()
    if not sender and others:
        sender = others[0]
    return sender, receiver


def _sent_by(bare: str, names: list[str]) -> str:
    any_name = "|".join(re.escape(name) for name in names)
    found = re.search(
        rf"\b(?:from|by|of)\s+({any_name})\b|\b({any_name})(?:'s|’s)"
        rf"|\b({any_name})\s+(?:wrote|sent|has|just|gave|emailed|mailed|last)",
        bare,
    )
    return next((one for one in found.groups() if one), "") if found else ""
