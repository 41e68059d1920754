"""Where a run is to stop, what is watched meanwhile, and the language of expressions both use.

A live run and a stored one give the same debug events, which are made from
the records of their steps.
"""
