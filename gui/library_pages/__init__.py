"""Pages of the library window that look at all exemplars at once."""
