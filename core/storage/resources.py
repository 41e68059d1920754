"""The location of the program's data files: prompts, presets, policies, sites and others."""

from core.system.program import ROOT

RESOURCES = ROOT / "resources"
