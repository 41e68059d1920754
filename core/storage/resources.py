"""Where the program's own data files are: prompts, presets, policies, sites and the like."""

from pathlib import Path

RESOURCES = Path(__file__).resolve().parents[2] / "resources"
