"""Analyses of all exemplars: near duplicates, a map, and the effect of a change."""
