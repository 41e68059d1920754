"""Texts by family in place of exemplars: what other programs keep of the tasks that theirs are for."""

import json
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from core.schema.errors import DataError
from core.schema.exemplar import Exemplar, ExemplarStep
from core.settings.user_file import read_text


def read_texts(path: Path) -> tuple[Exemplar, ...]:
    """Read families of texts as exemplars; raises DataError where the file is not of that form."""
    try:
        families = TypeAdapter(dict[str, list[str]]).validate_python(json.loads(read_text(path)))
    except (ValueError, ValidationError, RecursionError) as error:
        raise DataError(
            f"{path} cannot be read: it is to hold JSON, each family's name with a list of texts."
        ) from error
    step = ExemplarStep(actions=("stop []",))
    return tuple(
        Exemplar(id=f"{place}/{number}", family=family, task=text[:200], metadata=text, steps=(step,))
        for place, (family, texts) in enumerate(families.items())
        if family
        for number, text in enumerate(texts)
        if text
    )
