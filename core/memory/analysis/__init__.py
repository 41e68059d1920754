"""What can be said of all exemplars at once: near duplicates, a map of them, and what a change would do."""
