"""Losses and logarithms of probabilities; the logarithm of the softmax is with the softmax."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linnet.backends.contract import RuntimeFault
from tests.backends.torch.kernels.harness import FLOATS, UNIT, Call, call, draw, near, wide

SIZES = [(1, 1), (3, 7), (5, 129), (0, 3)]


def check(made: Call, named: str, reach: float, count: int) -> None:
    """Logarithms are off by the size of the logits in units, their sums by one a term; what is
    near zero is off by as much as what is subtracted."""
    assert made.chosen("equivalent") == named
    (got,), (want,) = made.run(named), made.body()
    units = 4 * (2 * reach + count + 10) * UNIT["f32"]
    near(got, want, units * (1 + np.abs(np.nan_to_num(wide(want)))))


def logits(rows: int, count: int, dtype: str) -> Any:
    x = draw(0, (rows, count), dtype, 5.0)
    x.reshape(-1)[1:2] = -np.inf
    return x


def targets(rows: int, count: int) -> Any:
    return np.random.default_rng(1).integers(0, count, rows) * (np.arange(rows) > 0)


def weights(rows: int) -> Any:
    return np.random.default_rng(2).random(rows).astype(np.float32)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("rows", "count"), SIZES)
def test_of_logits(rows: int, count: int, dtype: str) -> None:
    x = logits(rows, count, dtype)
    reach = float(np.abs(wide(x)[np.isfinite(wide(x))]).max(initial=0))
    generics = {"N": rows, "V": count, "T": dtype}
    path = "std.nn.loss"
    given = {"logits": x, "targets": targets(rows, count)}
    check(
        call(f"{path}::token_log_probs", generics, **given), "torch.token_log_probs", reach, count
    )
    given["weights"] = weights(rows)
    made = call(f"{path}::cross_entropy", generics, **given)
    check(made, "torch.cross_entropy", reach, count + rows)
    made = call(f"{path}::entropy", {"S": (rows,), "V": count, "T": dtype}, logits=x)
    check(made, "torch.entropy", reach, 2 * count)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("rows", "count", "n"), [(1, 1, 1), (3, 7, 5), (2, 4099, 3), (0, 3, 2)])
def test_of_a_product(rows: int, count: int, n: int, dtype: str) -> None:
    """A vocabulary of more than one part, too."""
    x, weight = draw(3, (rows, n), dtype), draw(4, (count, n), dtype)
    generics = {"N": rows, "V": count, "H": n, "T": dtype}
    given = {"targets": targets(rows, count), "weights": weights(rows)}
    made = call("std.nn.loss::linear_cross_entropy", generics, x=x, weight=weight, **given)
    reach = n * float(np.abs(wide(x)).max(initial=0) * np.abs(wide(weight)).max(initial=0))
    check(made, "torch.linear_cross_entropy", reach * n, count + rows)


def test_weights_that_add_up_to_nothing() -> None:
    given = {
        "logits": logits(3, 7, "f32"),
        "targets": targets(3, 7),
        "weights": np.zeros(3, np.float32),
    }
    made = call("std.nn.loss::cross_entropy", {"N": 3, "V": 7, "T": "f32"}, **given)
    assert np.isnan(made.run("torch.cross_entropy")[0]) and np.isnan(made.body()[0])


@pytest.mark.parametrize("op", ["token_log_probs", "cross_entropy", "linear_cross_entropy"])
@pytest.mark.parametrize("bad", [-100, -1, 200])
def test_a_target_that_is_no_word(bad: int, op: str) -> None:
    """-100, PyTorch's own for what does not count, would be a word counted from the end."""
    given: dict[str, Any] = {"targets": np.array([0, bad])}
    if op == "linear_cross_entropy":
        given |= {"x": draw(5, (2, 3), "f32"), "weight": draw(6, (200, 3), "f32")}
    else:
        given |= {"logits": logits(2, 200, "f32")}
    if op != "token_log_probs":
        given |= {"weights": weights(2)}
    sizes = {"N": 2, "V": 200, "H": 3} if "x" in given else {"N": 2, "V": 200}
    made = call(f"std.nn.loss::{op}", {**sizes, "T": "f32"}, **given)
    with pytest.raises(RuntimeFault):
        made.body()
    with pytest.raises(IndexError):
        made.run(f"torch.{op}")
