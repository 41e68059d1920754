"""Intervals of shares: of one that was counted, and of the difference of two counted on the same cases."""

from math import sqrt

Z = 1.96
"""Standard normal quantile of a two-sided 95 % interval."""


def wilson(successes: int, count: int) -> tuple[float, float]:
    """Return the 95 % score interval of a share, from 0 to 1; all of it where nothing was counted.

    E. B. Wilson, Probable inference, the law of succession, and statistical
    inference, JASA 22 (1927).
    """
    if count == 0:
        return 0.0, 1.0
    share = successes / count
    spread = Z * sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    middle = share + Z * Z / (2 * count)
    scale = 1 + Z * Z / count
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def paired(both: int, first: int, second: int, neither: int) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two shares counted on the same cases, from -1 to 1.

    `first` and `second` are the cases that only the one, or only the other,
    brought to success. The square-and-add interval with continuity corrected
    phi: R. G. Newcombe, Improved confidence intervals for the difference
    between binomial proportions based on paired data, Statistics in Medicine
    17 (1998), method 10. All of it where nothing was counted.
    """
    count = both + first + second + neither
    if count == 0:
        return -1.0, 1.0
    one, other = (both + first) / count, (both + second) / count
    (low_1, high_1), (low_2, high_2) = wilson(both + first, count), wilson(both + second, count)
    product = (both + first) * (second + neither) * (both + second) * (first + neither)
    excess: float = both * neither - first * second
    if excess > 0:
        excess = max(excess - count / 2, 0.0)
    phi = excess / sqrt(product) if product else 0.0
    difference = one - other
    down, up = (one - low_1, high_2 - other), (high_1 - one, other - low_2)
    low = difference - sqrt(max(0.0, down[0] ** 2 - 2 * phi * down[0] * down[1] + down[1] ** 2))
    high = difference + sqrt(max(0.0, up[0] ** 2 - 2 * phi * up[0] * up[1] + up[1] ** 2))
    return max(-1.0, low), min(1.0, high)
