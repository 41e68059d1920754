"""The command `backstep`: from a checkout, or from the package that holds core, gui, resources and main.py."""

import sys
from pathlib import Path


def entry() -> None:
    """Run the command line with the folder first on the path in which the sources find one another."""
    here = Path(__file__).resolve().parent
    sys.path.insert(0, str(here if (here / "core").is_dir() else here.parent))
    from main import entry

    entry()
