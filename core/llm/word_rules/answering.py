"""Answers that the page holds or gives: sums, values of labels, words of a text, counts of things."""

import ast
import operator
import re
from collections.abc import Callable

from core.llm.word_rules.move import Scene
from core.llm.word_rules.shapes import matching
from core.llm.word_rules.words import alike, norm, ordinal, words
from core.schema.observation import Element

_SUM = re.compile(r"[\d(x][\d\s().+\-*/×÷−x]*[+\-*/×÷−][\d\s().+\-*/×÷−x]*\d?[\dx)]?")
_SIGNS = str.maketrans("×÷−·", "*/-*")
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def computed(scene: Scene) -> str | None:
    """Return the answer to the sum or equation that the page shows."""
    for one in scene.page.elements:
        text = re.sub(r"(?<=\d)\s*[xX]\s*(?=\d)", "*", one.name.translate(_SIGNS))
        if "=" in text:
            left, _, right = text.partition("=")
            if re.search(r"[a-z]", left + right) and right.strip():
                found = solved(left, right)
            else:
                found = value_of(left) if re.search(r"\d", left) else None
        elif re.fullmatch(r"[\d\s().]+[-+*/][\d\s().+\-*/]*", text.strip()) and re.search(
            r"\d\s*[-+*/]\s*\d", text
        ):
            found = value_of(text)
        else:
            continue
        if found is not None:
            return f"{found:g}"
    return None


def solved(left: str, right: str) -> float | None:
    """Return the x that makes both sides of a linear equation equal."""
    letters = set(re.findall(r"[a-z]", left + right))
    if len(letters) != 1:
        return None
    letter = letters.pop()

    def gap(x: float) -> float | None:
        sides = [
            value_of(re.sub(rf"(?<=[\d)])\s*{letter}", f"*({x})", side).replace(letter, f"({x})"))
            for side in (left, right)
        ]
        return None if sides[0] is None or sides[1] is None else sides[0] - sides[1]

    at_zero, at_one = gap(0), gap(1)
    if at_zero is None or at_one is None or at_one == at_zero:
        return None
    return -at_zero / (at_one - at_zero)


def value_of(text: str) -> float | None:
    """Return the value of a sum written with + - * / and brackets, or None where it is none."""
    try:
        return _evaluate(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
        return None


def _evaluate(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_evaluate(left), _evaluate(right))
    raise ValueError("not a sum")


def looked_up(scene: Scene, label: str, *, but: Element | None = None) -> str | None:
    """Return what the page says of a label: what stands after it, in its row or after its colon."""
    page = scene.page
    wanted = norm(label)
    if not wanted:
        return None
    for one in page.elements:
        if one is but or alike(norm(one.name), wanted) < 0.9:
            continue
        after = page.after(one)
        following = after[0] if after else None
        if following is None or following is but or not following.name or page.may("type", following):
            continue
        if following.parent == one.parent or one.role in ("text", "term", "rowheader"):
            return following.name
    for one in page.elements:
        if match := re.match(rf"{re.escape(wanted)}\s*[:=]\s*(.+)", one.name, re.IGNORECASE):
            return match[1].strip()
    return None


def copied(scene: Scene) -> str | None:
    """Return the text that the objective says to take from the page."""
    text = scene.objective.text
    if match := re.search(r"\bvalues?\s+(?:of|for)\s+(?:the\s+)?(.+?)\s+(?:into|in|to)\b", text):
        return looked_up(scene, match[1].strip('"'))
    if match := re.search(r"\b(\w+)\s+word\b", text):
        place = ordinal(match[1])
        if place is not None:
            return _word_at(scene, place)
    fields = [one for one in scene.page.fields() if one.value]
    boxes = [one for one in scene.page.elements if one.role == "textbox" and one.value]
    if re.search(r"\btext\s*(?:areas?|box(?:es)?|fields?)\b", text) and boxes:
        match = re.search(r"(?:from|in|of)\s+the\s+(\w+)\s+text", text)
        place = ordinal(match[1]) if match else None
        kept = [one for one in boxes if not scene.past.touched(one.ref, "type")] or fields
        found = scene.page.nth(kept, place or 1)
        return found.value if found else None
    spoken = [one.name for one in scene.page.texts() if one.role in ("text", "paragraph", "heading")]
    return (
        "".join(spoken)
        if all(len(part) == 1 for part in spoken) and spoken
        else (spoken[0] if spoken else None)
    )


def _word_at(scene: Scene, place: int) -> str | None:
    """Return the word at a place of the longest text in the page."""
    texts = [
        one.value or one.name for one in scene.page.elements if one.role in ("paragraph", "text", "textbox")
    ]
    longest = max(texts, key=len, default="")
    found = longest.split()
    at = place - 1 if place > 0 else len(found) - 1
    if not 0 <= at < len(found):
        return None
    return found[at].strip(".,;:!?\"'()")


def counted(scene: Scene) -> int | None:
    """Return how many of what the objective names the page shows."""
    found = matching(scene.page, scene.objective.text)
    if found is not None:
        return len(found)
    asked = re.search(
        r"how many\s+(.+?)\s+(?:are|is|do|does|can|have)\b", scene.objective.text, re.IGNORECASE
    )
    if asked is None:
        return None
    wanted = [word for word in words(asked[1]) if len(word) > 2]
    return sum(
        1 for one in scene.page.texts() if wanted and all(word in one.name.casefold() for word in wanted)
    )
