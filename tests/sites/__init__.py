"""Sites that others wrote, used and read as an agent does: libraries of controls, editors, whole applications.

`table` lists them with what is tried on each, `checking` tries it, `accessibility`
compares what is read with Chromium's own accessibility tree. Those that start
quickly are tests; `python -m tests.sites` tries all.
"""
