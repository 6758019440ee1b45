"""Which experts rows go to, for tests of products with experts, whatever their weights are."""

from __future__ import annotations

from typing import Any

import numpy as np

Size = tuple[int, int, int, int, int, str]
"""R rows, K experts each, of E experts, Out, inputs (or blocks of 32), and which are chosen."""
SIZES: list[Size] = [
    (1, 1, 1, 1, 1, "any"),
    (1, 4, 5, 3, 7, "any"),
    (7, 2, 5, 9, 33, "any"),
    (0, 2, 3, 4, 1, "any"),
    (5, 0, 3, 4, 1, "any"),
    (5, 3, 3, 0, 2, "any"),
    (2, 3, 4, 1, 0, "any"),
    (33, 2, 6, 5, 3, "one"),
    (6, 3, 6, 5, 9, "every"),
]


def routing(size: Size) -> Any:
    """`[R, K; i64]`."""
    rows, chosen, count, *_, kind = size
    if kind == "one":
        return np.full((rows, chosen), count - 1, np.int64)
    if kind == "every":
        return (np.arange(rows * chosen, dtype=np.int64) % count).reshape(rows, chosen)
    return np.random.default_rng(1).integers(0, count, (rows, chosen))
