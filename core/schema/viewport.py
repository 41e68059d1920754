"""The size of the viewport in which an agent sees pages."""

import re
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

VIEWPORT = (1280, 720)
"""Where nothing else is said."""
_LEAST, _MOST = 100, 8000
_SIZE = re.compile(r"\s*(\d{1,5})\s*[x×]\s*(\d{1,5})\s*")


def _size(value: object) -> object:
    if isinstance(value, str):
        found = _SIZE.fullmatch(value)
        value = tuple(int(side) for side in found.groups()) if found else ()
    sides = value if isinstance(value, tuple | list) and len(value) == 2 else ()
    if not sides or not all(isinstance(side, int) and _LEAST <= side <= _MOST for side in sides):
        raise ValueError(
            f'write width and height in CSS pixels, each from {_LEAST} to {_MOST}, such as "1280x720"'
        )
    return tuple(sides)


def size_text(viewport: tuple[int, int]) -> str:
    """Return, for example, ``1280x720``."""
    return f"{viewport[0]}x{viewport[1]}"


Viewport = Annotated[tuple[int, int], BeforeValidator(_size), PlainSerializer(size_text)]
"""Width and height in CSS pixels; in files, on the command line and in the database as ``1280x720``."""
