"""The location of the program's data files: prompts, presets, policies, sites and others."""

from pathlib import Path

RESOURCES = Path(__file__).resolve().parents[2] / "resources"
