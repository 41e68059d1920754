"""Breakpoints and watches, and the language of their expressions.

A live run and a stored run have the same debug events, made from the records of their steps.
"""
