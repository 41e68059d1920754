"""The window in which an exemplar is edited."""
