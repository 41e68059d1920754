"""Formatting of numbers and of external texts for display."""

import re
from collections.abc import Iterable

_ODD = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def count(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 call`` or ``3 calls``."""
    return f"{thousands(number)} {noun if number == 1 else plural or noun + 's'}"


def ranges(numbers: Iterable[int], dash: str = "–") -> str:
    """Return ``1–3, 7`` for 1, 2, 3 and 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}{dash}{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def encodable(text: str) -> str:
    """Return a text as UTF-8 can hold it: half of a surrogate pair becomes a question mark."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def in_line(text: str, most: int = 1000) -> str:
    """Return a text as one line, with its middle removed if it is longer than any screen.

    Qt measures a whole line before it cuts it: a megabyte takes seconds.
    """
    if len(text) > most:
        half = most // 2
        text = f"{text[:half]} (… {thousands(len(text) - 2 * half)} characters left out …) {text[-half:]}"
    return text.replace("\n", " ")


def as_read(text: str) -> str:
    """Return an external text with each character replaced that would be invisible or move the others."""
    return _ODD.sub("\ufffd", text)


def cut(text: str, most: int) -> str:
    """Return a text of at most this many characters; the last one shows that there are more."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def cut_middle(text: str, most: int) -> str:
    """Return a text of at most this many characters, with its end: that often tells two texts apart."""
    kept = most - 1
    return text if len(text) <= most else f"{text[: kept - kept // 3]}…{text[-(kept // 3) :]}"


def thousands(number: int) -> str:
    """Return, for example, ``5 120``, with narrow no-break spaces between thousands."""
    return f"{number:,}".replace(",", "\u202f")


def dollars(cost: float | None) -> str:
    """Return, for example, ``$0.02``. Below a cent it shows the significant digits; without a price, a dash."""
    if cost is None:
        return "–"
    if cost and cost < 0.01:
        return f"${cost:.2g}" if cost >= 0.0001 else "<$0.0001"
    return f"${cost:.2f}"


def seconds(value: float) -> str:
    """Return, for example, ``412 ms``, ``3.2 s`` or ``2 min 5 s``."""
    if value < 0.9995:
        return f"{value * 1000:.0f} ms"
    if value < 59.95:
        return f"{value:.1f} s"
    return "{} min {} s".format(*divmod(round(value), 60))


def milliseconds(value: float) -> str:
    return seconds(value / 1000)
