import pkgutil
import subprocess
import sys
from pathlib import Path

import gui

ROOT = Path(__file__).parents[2]
FORBIDDEN = ("playwright", "openai", "faiss", "sqlite_utils")


def test_importing_the_window_loads_neither_browser_driver_nor_llm_client_nor_database():
    modules = [
        module.name
        for module in pkgutil.walk_packages(gui.__path__, "gui.")
        if not module.name.startswith("gui.live")
    ]
    assert "gui.panels.action.panel" in modules
    code = (
        f"import importlib, sys\nfor name in {modules!r}: importlib.import_module(name)\n"
        f"print([name for name in {FORBIDDEN!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


def test_neither_the_window_nor_the_library_waits_for_what_draws_plots_before_there_is_one():
    code = "import sys, gui.application, gui.branching.controller, gui.exemplars.controller\n"
    code += "import gui.experiments.controller, gui.exemplars.library.library_window, gui.exemplars.analyses.map_page\n"
    code += "print('pyqtgraph' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False", done.stderr
