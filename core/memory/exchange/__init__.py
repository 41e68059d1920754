"""Import and export of exemplars, from and to files of other programs.

Works on tuples of `Exemplar`; where they are kept is the business of the
store that is handed in.
"""
