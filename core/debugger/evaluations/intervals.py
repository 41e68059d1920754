"""Intervals of shares and of their differences."""

from collections.abc import Iterable
from math import sqrt
from random import Random

_DRAWS = 2000
Z = 1.96
"""Standard normal quantile of a two-sided 95 % interval."""


def wilson(successes: int, count: int) -> tuple[float, float]:
    """Return the 95 % score interval of a share, from 0 to 1; all of it if nothing was counted.

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


def over_groups(
    counts: Iterable[tuple[int, int]], independent: tuple[float, float] | None = None
) -> tuple[float, float] | None:
    """Return the 95 % interval of a ratio over groups such as tasks; None for fewer than two of them.

    Each group gives its part of the numerator and of the denominator. The
    groups are drawn with replacement, whole: runs of one task are not
    independent of each other. This is the cluster bootstrap with percentiles
    (A. C. Davison and D. V. Hinkley, Bootstrap Methods and their Application,
    1997, sections 3.8 and 5.3), with a fixed seed. With few groups it is
    narrower than it should be: it is never narrower than `independent`, the
    interval as if no two runs depended on each other.
    """
    groups = sorted(one for one in counts if one[1])
    if len(groups) < 2:
        return None
    random = Random(0)
    ratios = []
    for _ in range(_DRAWS):
        drawn = random.choices(groups, k=len(groups))
        ratios.append(sum(one[0] for one in drawn) / sum(one[1] for one in drawn))
    ratios.sort()
    tail = round(_DRAWS * 0.025)
    low, high = ratios[tail], ratios[-tail - 1]
    return (min(low, independent[0]), max(high, independent[1])) if independent else (low, high)


def paired(both: int, first: int, second: int, neither: int) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two shares counted on the same cases, from -1 to 1.

    `first` and `second` are the cases that only the one, or only the other,
    brought to success. The square-and-add interval with continuity corrected
    phi: R. G. Newcombe, Improved confidence intervals for the difference
    between binomial proportions based on paired data, Statistics in Medicine
    17 (1998), method 10. All of it if nothing was counted.
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
