"""Exemplars in and out: files of other programs as exemplars, and exemplars as files that others read.

Works on tuples of `Exemplar`; where they are kept is the business of the
store that is handed in.
"""
