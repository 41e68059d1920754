"""Bringing the browser back to a step: checkpoints, ways to restore them, and how well that went."""
