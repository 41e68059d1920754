"""Restores the browser to a step: checkpoints, strategies to restore them, and the grade of the result."""
