"""Where the program's files are, and what starts it: a checkout, or the package `backstep` that was installed."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder of pyproject.toml, main.py and resources."""
IS_INSTALLED = (ROOT / "__init__.py").is_file()
"""Whether that folder is the installed package: only there it is one."""
COMMAND = "backstep" if IS_INSTALLED else "python3 main.py"
"""What a user writes to start the program."""
