"""Editing an exemplar: pure functions on frozen drafts, which may be unfinished; no window and no database."""
