"""The ten phases of a step: functions from the run so far to one record.

A phase gets the run's state, the world it acts in, and the files it uses. `registry` has the table. Their
order and their records are in `core.schema.step`; budgets and storing are the loop's.
"""
