"""How well one number tells two groups apart: the area under the ROC curve."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def auc(without: Sequence[float], with_: Sequence[float]) -> float:
    """Return the chance that one of the second is larger than one of the first; ties are halves.

    The statistic of Mann and Whitney, divided by the number of pairs.

    >>> auc([1, 2, 3], [4, 5, 6]), auc([1, 2], [1, 2]), auc([2, 3], [1])
    (1.0, 0.5, 0.0)
    """
    ordered = np.sort(np.asarray(without, dtype=float))
    values = np.asarray(with_, dtype=float)
    below = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return float(below.sum() / (2 * len(ordered) * len(values)))


def interval(area: float, without: int, with_: int) -> tuple[float, float]:
    """Return the 95 percent interval of an area over groups of these sizes (Hanley, McNeil 1982).

    >>> interval(0.5, 200, 200)
    (0.443, 0.557)
    """
    q1, q2 = area / (2 - area), 2 * area * area / (1 + area)
    variance = area * (1 - area) + (with_ - 1) * (q1 - area**2) + (without - 1) * (q2 - area**2)
    # Where all are on one side it would be no interval: by the rule of three.
    error = max(1.96 * math.sqrt(variance / (without * with_)), 3 / (without + with_))
    return round(max(0.0, area - error), 3), round(min(1.0, area + error), 3)
