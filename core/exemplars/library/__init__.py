"""The library: the user's own exemplars in one database, with versions, origins and retrievals."""
