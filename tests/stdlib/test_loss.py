"""std.nn.loss against PyTorch in f64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from linnet.backends.base import RuntimeFault

from .compare import FLOATS, UNIT, draw, near, tensor, torch
from .conftest import NUMPY_DTYPES, Array, Run, tensor_type

F = torch.nn.functional
F32 = UNIT["f32"]
SIZES = [(1, 1), (3, 7), (5, 33), (0, 4)]


def slack(x: Any) -> float:
    """Of a logarithm of a softmax in f32: two numbers and their difference round, by four units of
    the greatest together, in the term itself and in the sum; that has n terms, exponentials within
    two units and a logarithm within two of at most `log(n)`; then the difference rounds."""
    if not x.numel():
        return 0.0
    finite = x[x.isfinite()].abs().max().item()
    n = x.shape[-1]
    return (9 * finite + n + 4 + 4 * math.log(n)) * F32


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1,), (5,), (0, 3), (3, 0), (2, 3, 7)])
@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_log_softmax(run: Run, shape: tuple[int, ...], scale: float, dtype: str) -> None:
    x = draw(0, shape, dtype, scale)
    got = run("std.nn.loss::{log_softmax}", "log_softmax(x)", tensor_type(shape, dtype), x=x)
    want = torch.log_softmax(tensor(x), dim=-1)
    near(got, want, UNIT[dtype] * want.abs() + slack(tensor(x)) * 1.01)


def targets_for(rows: int, words: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(1)
    weights = rng.random(rows).astype(np.float32) + np.float32(0.1)
    weights[1::3] = 0
    return rng.integers(0, words, rows), weights


def mean_of(each: Any, weights: Array) -> Any:
    share = tensor(weights)
    return (each * share).sum() / share.sum()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("rows", "words"), SIZES)
def test_of_logits(run: Run, rows: int, words: int, dtype: str) -> None:
    x = draw(2, (rows, words), dtype, 3.0)
    if words > 2:
        x[:, 1] = -np.inf
    targets, weights = targets_for(rows, words)
    targets[targets == 1] = 0
    off = 1.01 * slack(tensor(x))
    each = F.cross_entropy(tensor(x), torch.from_numpy(targets), reduction="none")
    use, result = "std.nn.loss::{token_log_probs}", tensor_type((rows,), "f32")
    near(run(use, "token_log_probs(x, t)", result, x=x, t=targets), -each, off + F32 * each)

    use, result = "std.nn.loss::{entropy}", tensor_type((rows,), "f32")
    logs = torch.log_softmax(tensor(x), -1)
    want = torch.distributions.Categorical(logits=tensor(x)).entropy() if rows else each
    # Each term's logarithm is off, and its exponential by as much relative to it.
    terms = (logs.exp() * logs.nan_to_num(neginf=0.0).abs()).sum(-1)
    bound = off * (1 + terms) + (words + 4) * F32 * terms
    near(run(use, "entropy(x)", result, x=x), want, 1.01 * bound)

    use, call = "std.nn.loss::{cross_entropy}", "cross_entropy(x, t, w)"
    got = run(use, call, "f32", x=x, t=targets, w=weights)
    if rows == 0:
        assert np.isnan(got)
        return
    want = mean_of(each, weights)
    # Both sums have a rounding for each row, of positive terms only; then the quotient.
    near(got, want, off + (2 * rows + 4) * F32 * want)


def test_cross_entropy_is_that_of_torch(run: Run) -> None:
    """Rows that PyTorch ignores have the weight zero here."""
    x, (targets, weights) = draw(3, (7, 5), "f32"), targets_for(7, 5)
    use, call = "std.nn.loss::{cross_entropy}", "cross_entropy(x, t, w)"
    seen = (weights > 0).astype(np.float32)
    got = run(use, call, "f32", x=x, t=targets, w=seen)
    ignored = np.where(seen > 0, targets, -100)
    want = F.cross_entropy(tensor(x), torch.from_numpy(ignored), ignore_index=-100)
    near(got, want, 1.01 * slack(tensor(x)) + 18 * F32 * want)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("rows", "words", "h"), [(1, 1, 1), (3, 7, 5), (5, 33, 9), (2, 3, 0)])
def test_linear_cross_entropy(run: Run, rows: int, words: int, h: int, dtype: str) -> None:
    x, weight = draw(4, (rows, h), dtype), draw(5, (words, h), dtype, 3.0)
    targets, weights = targets_for(rows, words)
    use, call = "std.nn.loss::{linear_cross_entropy}", "linear_cross_entropy(x, m, t, w)"
    got = run(use, call, "f32", x=x, m=weight, t=targets, w=weights)
    logits = tensor(x) @ tensor(weight).T
    want = mean_of(F.cross_entropy(logits, torch.from_numpy(targets), reduction="none"), weights)
    # Both factors round, and h products and sums: in the target's logit and in all the others.
    terms = (tensor(x).abs() @ tensor(weight).abs().T).max()
    off = 2 * (2 * h + 2) * F32 * terms
    # The running sum is scaled once a word, by an exponential within two units, and then rounded.
    off += slack(logits) + 5 * words * F32
    near(got, want, 1.01 * off + (2 * rows + 4) * F32 * want)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("absent", [0, 1, 2, 3])
def test_linear_cross_entropy_where_words_have_no_probability(
    run: Run, absent: int, dtype: str
) -> None:
    x = np.ones((2, 1), NUMPY_DTYPES[dtype])
    weight = np.array([[-np.inf]] * absent + [[0.0], [0.0]], NUMPY_DTYPES[dtype])
    targets, weights = np.array([absent, absent + 1]), np.ones(2, np.float32)
    use, call = "std.nn.loss::{linear_cross_entropy}", "linear_cross_entropy(x, m, t, w)"
    got = run(use, call, "f32", x=x, m=weight, t=targets, w=weights)
    # Two words of one probability: only the logarithm rounds, within two units.
    near(got, torch.tensor(math.log(2), dtype=torch.float64), 3 * F32 * math.log(2))


@pytest.mark.parametrize("bad", [-1, 5])
def test_a_target_that_does_not_exist_is_an_error(run: Run, bad: int) -> None:
    x, targets = draw(6, (2, 5), "f32"), np.array([0, bad])
    with pytest.raises(RuntimeFault, match=f"index {bad} is out of range"):
        run(
            "std.nn.loss::{token_log_probs}",
            "token_log_probs(x, t)",
            "Tensor[2; f32]",
            x=x,
            t=targets,
        )
