"""Evaluations on a Ray cluster, in an environment that has Ray.

    python -m tests.campaigns.cluster [--folder FOLDER] [WORDS FOR PYTEST...]

Makes the environment if FOLDER lacks it (Ray and what Backstep requires are downloaded), then runs
tests/core/cli/test_eval_cluster.py in it. Its exit code is that of the tests.
"""

import argparse
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = "tests/core/cli/test_eval_cluster.py"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "backstep-ray")
    given, words = parser.parse_known_args()
    python = given.folder / "bin" / "python"
    if not python.exists():
        print("installing Ray and what Backstep requires", flush=True)
        venv.create(given.folder, with_pip=True)
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        extras = project["optional-dependencies"]
        needed = [*project["dependencies"], *extras["test"], *extras["cluster"]]
        subprocess.run([python, "-m", "pip", "install", "-q", *needed], check=True)
    return subprocess.run([python, "-m", "pytest", "-n", "0", "-v", TESTS, *words], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
