"""This program's own JSON lines, as in resources/exemplars/README.md."""

import json

from core.schema.exemplar import Exemplar


def export_lines(exemplars: tuple[Exemplar, ...]) -> dict[str, str]:
    return {"": "".join(f"{line_of(one)}\n" for one in exemplars)}


def line_of(exemplar: Exemplar) -> str:
    """Return the line of a file that holds the exemplar."""
    values = exemplar.model_dump(mode="json", exclude_defaults=True) | {"format": exemplar.format}
    return json.dumps(values, ensure_ascii=False)
