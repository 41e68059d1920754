"""The library of exemplars as a window of its own."""
