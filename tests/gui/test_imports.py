import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.program

ROOT = Path(__file__).parents[2]


def test_neither_the_window_nor_the_library_waits_for_what_draws_plots_before_there_is_one():
    code = "import sys, gui.application, gui.branching.controller, gui.exemplars.controller\n"
    code += "import gui.evaluations.controller, gui.exemplars.library.library_window\n"
    code += "import gui.exemplars.analyses.controller\n"
    code += "print('pyqtgraph' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False", done.stderr
