"""The injected scripts, read once from resources/scripts."""

from functools import cache

from core.storage.resources import RESOURCES

WORLD = "backstep"
"""The isolated world that every script of ours runs in."""


@cache
def script(name: str) -> str:
    """Return the source of ``resources/scripts/NAME.js``."""
    return (RESOURCES / "scripts" / f"{name}.js").read_text(encoding="utf-8")


@cache
def world_script() -> str:
    """Return the source of all that lives in our world of each document."""
    return script("changes") + script("walker")
