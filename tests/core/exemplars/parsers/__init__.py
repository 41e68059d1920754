"""Programs for implicit abstraction, each for the pages of one family; the sandbox runs them, nothing imports them."""

from pathlib import Path


def parser_of(family: str) -> str:
    """Return the program of a family as text, or nothing where it has none."""
    path = Path(__file__).with_name(f"{family.replace('-', '_')}.py")
    return path.read_text(encoding="utf-8").strip() if path.exists() else ""
