"""Where a run is to stop, what is watched meanwhile, and the small language both are written in.

What is asked is the same for a run under way and for a stored one: a moment
is told by the records of its step, wherever they come from.
"""
