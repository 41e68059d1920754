"""Edits that a person can make in a run between two phases: one class per kind."""
