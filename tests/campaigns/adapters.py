"""The examples of attached agents with their real packages, each in an environment of its own.

    python -m tests.campaigns.adapters [--folder FOLDER] [NAME...]

Makes the environments that FOLDER lacks (some hundred megabytes are downloaded),
then runs tests/gui/live/test_adapters.py and test_adapters_told.py, and for Playwright's MCP server
test_escapes_mcp.py. Its exit code is that of the tests.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.packages import install_node_modules, make_environment

PACKAGES = {
    "agentlab": (
        "browsergym-core==0.14.3",
        "browsergym-experiments==0.14.3",
        "anthropic==2.12.0",
        "litellm==1.80.0",
        "openai==1.109.1",
        "pandas",
        "pyyaml",
        "requests",
        "tiktoken",
        "tqdm",
    ),
    "browser_use": ("browser-use==0.13.14",),
    "browsergym": ("browsergym-core==0.14.3", "openai==3.54.0"),
    "langgraph": ("langgraph==1.2.22", "langchain==1.4.7", "langchain-openai==1.7.3", "playwright>=1.60"),
    "mcp": ("openai-agents==0.24.0",),
    "stagehand": (),
}
"""What each example needs; Playwright's MCP server comes by npx, which Node has."""
ALONE = {"agentlab": "agentlab==0.4.2"}
"""What is installed without what it requires: all of that has a numpy that must be built, PyTorch and Ray."""
NODE = {"stagehand": "@browserbasehq/stagehand@3.7.3"}
"""What comes from npm."""
TESTS = ("tests/gui/live/test_adapters.py", "tests/gui/live/test_adapters_told.py")
MCP_TESTS = "tests/gui/live/test_escapes_mcp.py"


def prepare(folder: Path, name: str) -> None:
    """Make the environment of an example, where it is not there; raises CannotInstall."""
    if name in NODE:
        install_node_modules(folder / name, NODE[name])
    else:
        make_environment(folder / name, PACKAGES[name], alone=ALONE.get(name, ""))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "backstep-adapters")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(PACKAGES)}")
    given = parser.parse_args()
    names = given.names or list(PACKAGES)
    if unknown := [name for name in names if name not in PACKAGES]:
        parser.error(f"there is no example {unknown[0]}; there are {', '.join(PACKAGES)}")
    for name in names:
        prepare(given.folder, name)
    chosen = " or ".join(f"[{name}]" for name in names)
    also = (f"{MCP_TESTS}",) if "mcp" in names else ()
    chosen = f"{chosen} or test_escapes_mcp" if also else chosen
    tests = [sys.executable, "-m", "pytest", "-n", "0", "-v", *TESTS, *also, "-k", chosen]
    return subprocess.run(tests, env={**os.environ, "BACKSTEP_ADAPTERS": str(given.folder)}).returncode


if __name__ == "__main__":
    sys.exit(main())
