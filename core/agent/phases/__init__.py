"""The ten phases of a step, one file each: functions from the run so far to one record.

What a phase needs comes in: the run's state, the world it acts in, and the
files it goes by. The order of the phases, the budgets and the storing are
the loop's.
"""
