"""Where the program's files are, and what starts it: a checkout, or the package `backstep` that was installed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder of pyproject.toml, main.py and resources."""
IS_INSTALLED = (ROOT / "__init__.py").is_file()
"""Whether that folder is the installed package: only there it is one."""
COMMAND = "backstep" if IS_INSTALLED else "python3 main.py"
"""What a user writes to start the program."""


@cache
def program_version() -> str:
    """Return the version that was built from the repository's tag; of sources that were never installed, a fallback."""
    import tomllib
    from importlib.metadata import PackageNotFoundError, version

    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    try:
        return version(document["project"]["name"])
    except PackageNotFoundError:
        return str(document["tool"]["hatch"]["version"]["fallback-version"])
