"""Pages of the library window on which exemplars are tried out."""
