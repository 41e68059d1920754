"""What the protocol tells of a console call or an error, in the words of a console."""

import json
import time
from typing import Any

from core.browser.log.records import LONGEST, cut

Values = dict[str, Any]


def in_words(argument: Values) -> str:
    """Return what one argument of a console call was, as a console shows it in one line."""
    if "value" in argument:
        value = argument["value"]
        return value[: 2 * LONGEST] if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if "unserializableValue" in argument:
        return str(argument["unserializableValue"])
    preview = argument.get("preview")
    if isinstance(preview, dict) and argument.get("subtype") != "error":
        return _preview(preview)
    return str(argument.get("description") or argument.get("type", ""))


def place_of(where: Values) -> str:
    """Return address, line and column, counted from 1 as editors do."""
    url = cut(str(where.get("url") or ""))[0]
    line, column = where.get("lineNumber"), where.get("columnNumber")
    if not url or not isinstance(line, int):
        return url
    return f"{url}:{line + 1}" + (f":{column + 1}" if isinstance(column, int) else "")


def seconds_of(milliseconds: object) -> float:
    """Return a time of the protocol in seconds since the epoch; now where there is none."""
    return milliseconds / 1000 if isinstance(milliseconds, int | float) else time.time()


def _preview(preview: Values) -> str:
    array = preview.get("subtype") == "array"
    parts = [
        str(one.get("value", "")) if array else f"{one.get('name')}: {one.get('value', one.get('type', ''))}"
        for one in preview.get("properties", ())
    ]
    if preview.get("overflow"):
        parts.append("…")
    inside = ", ".join(parts)
    if array:
        return f"[{inside}]"
    name = preview.get("description", "")
    return f"{{{inside}}}" if name in ("Object", "") else f"{name} {{{inside}}}"
