"""The library: the user's own exemplars in one database, with their versions, where they came from and went."""
