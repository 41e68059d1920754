"""What is wrong with an entry of a file that is imported."""

from pydantic import ValidationError


class FaultyError(Exception):
    """Says why an entry cannot be read, in words that go after its position."""


def first_reason(error: ValidationError) -> str:
    """Return the first thing that a validation found wrong, with the name of its field."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else str(first["msg"])
