"""A test that may stop after every pair: does a change turn failures into successes more often than the reverse?"""

ALPHA = 0.05
"""How often at most a change that does not help is taken for one that does."""
BETA = 0.05
"""How often at most one that helps as `HELPS` says is given up, if there is no end of pairs.

With an end it is given up more often: where all pairs differ, at 8 pairs in 1 - 0.95 ** 5, 23 %, of all cases.
"""
HELPS = 0.95
"""The share of differing pairs that a change wins which is worth finding."""
ENOUGH = 1 / ALPHA
"""The evidence from which on a change helps: 20 to 1."""
TOO_LITTLE = BETA
"""The evidence from which on it does not."""


def evidence(mended: int, harmed: int) -> float:
    """Return the likelihood ratio of a change that helps to one that does not.

    Pairs of runs that end alike say nothing. Of the others, a change without effect wins one half, and one that helps
    `HELPS`. This is the sequential probability ratio test (A. Wald, Sequential tests of statistical hypotheses, Annals
    of Mathematical Statistics 16, 1945) on the pairs of McNemar's test. If no more than one half is won, its
    expectation stays at most 1, so it may be looked at after each pair.
    """
    return float((2 * HELPS) ** mended * (2 * (1 - HELPS)) ** harmed)


def can_be_enough(mended: int, harmed: int, left: int) -> bool:
    """Return whether the evidence can still come to `ENOUGH` with so many pairs left."""
    return evidence(mended + left, harmed) >= ENOUGH


def least_pairs() -> int:
    """Return how many pairs, all won, are enough."""
    return next(pairs for pairs in range(1, 1000) if evidence(pairs, 0) >= ENOUGH)


def ratio_words(ratio: float) -> str:
    """Return evidence in words, such as ``25 to 1``."""
    return f"{ratio:.3g} to 1" if ratio >= 1 else f"1 to {1 / ratio:.3g}"
