"""The screenshot with numbered outlines, for LLMs that take pictures."""

import io
from collections.abc import Iterable

from PIL import Image, ImageDraw, ImageFont

from core.schema.observation import Observation

_COLOUR = (31, 111, 235)


def outlined(picture: bytes, observation: Observation, refs: Iterable[int]) -> bytes:
    """Return the picture as PNG with an outline and its number round each element in view."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=11)
    wanted = set(refs)
    for element in observation.elements:
        if element.ref not in wanted or not element.in_viewport:
            continue
        box = element.box
        left, top = max(box.x, 0), max(box.y, 0)
        right, bottom = min(box.x + box.width, image.width - 1), min(box.y + box.height, image.height - 1)
        if right <= left or bottom <= top:
            continue
        draw.rectangle((left, top, right, bottom), outline=_COLOUR, width=2)
        label = str(element.ref)
        width = draw.textlength(label, font=font) + 4
        up = top - 12 if top >= 12 else top
        draw.rectangle((left, up, left + width, up + 12), fill=_COLOUR)
        draw.text((left + 2, up), label, fill=(255, 255, 255), font=font)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
