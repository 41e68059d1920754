"""Import and export of exemplars, from and to files of other programs."""
