"""relu, silu, gelu, gelu_erf and softplus against PyTorch in f64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from .compare import FLOATS, UNIT, draw, near, same_bits, summing, tensor, torch
from .conftest import NUMPY_DTYPES, Array, Run, tensor_type

F = torch.nn.functional
SHAPES = [(1,), (0,), (333,), (2, 0, 3), (3, 5)]


def call(run: Run, op: str, x: Array, dtype: str) -> Array:
    use = f"std.nn.activations::{{{op}}}"
    return run(use, f"{op}(x)", tensor_type(x.shape, dtype), x=x)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_relu(run: Run, shape: tuple[int, ...], dtype: str) -> None:
    x = draw(0, shape, dtype)
    same_bits(call(run, "relu", x, dtype), torch.relu(tensor(x, dtype)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_silu(run: Run, shape: tuple[int, ...], dtype: str) -> None:
    x = draw(1, shape, dtype, 6.0)
    want = F.silu(tensor(x))
    # As sigmoid, and the input rounds once more.
    error = UNIT[dtype] + (tensor(x).abs() + 9) * summing(dtype)
    near(call(run, "silu", x, dtype), want, want.abs() * error)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_gelu(run: Run, shape: tuple[int, ...], dtype: str) -> None:
    x = draw(2, shape, dtype, 3.0)
    wide = tensor(x)
    want = F.gelu(wide, approximate="tanh")
    # The argument of tanh has eight roundings, which matter at most as much as its slope lets
    # them: `a * (1 - tanh(a) ** 2)` is below 0.45. Tanh is within two units of 1, then the sum with
    # 1 and two products round.
    bound = wide.abs() / 2 * (8 * 0.45 + 2 + 2) + 3 * want.abs()
    near(call(run, "gelu", x, dtype), want, bound * summing(dtype) + UNIT[dtype] * want.abs())


def share_below(x: Any) -> Any:
    """By erfc, which has no cancellation on the left."""
    return torch.special.erfc(-x / math.sqrt(2)) / 2


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_gelu_erf(run: Run, shape: tuple[int, ...], dtype: str) -> None:
    x = draw(3, shape, dtype, 4.0)
    wide = tensor(x)
    want = wide * share_below(wide)
    torch.testing.assert_close(want, F.gelu(wide), rtol=0.0, atol=1e-14)
    # The exponent is `x ** 2 / 2` after four roundings, a relative error of its exponential; a
    # quotient of polynomials, of positive terms only, has up to 20 roundings above and below.
    bound = want.abs() * (2 * wide.square() + 48)
    near(call(run, "gelu_erf", x, dtype), want, bound * summing(dtype) + UNIT[dtype] * want.abs())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_softplus(run: Run, shape: tuple[int, ...], dtype: str) -> None:
    x = draw(4, shape, dtype, 9.0)
    wide = tensor(x)
    want = torch.logaddexp(wide, torch.zeros_like(wide))
    # The input rounds, an exponential within two units; of what is small, the sum with 1, a
    # logarithm within two units, a quotient, a product and another sum.
    bound = want.abs() * (wide.abs() + 10)
    near(call(run, "softplus", x, dtype), want, bound * summing(dtype) + UNIT[dtype] * want.abs())


# Where one of the approximations of erfc ends and the next begins, and both sides of it.
@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("end", [0.46875, 4.0])
def test_gelu_erf_where_approximations_meet(run: Run, end: float, dtype: str) -> None:
    x = np.array([0.999, 0.9999999, 1.0, 1.0000001, 1.001]) * end * math.sqrt(2)
    x = np.concatenate([x, -x]).astype(NUMPY_DTYPES[dtype])
    wide = tensor(x)
    want = wide * share_below(wide)
    bound = want.abs() * (2 * wide.square() + 48)
    near(call(run, "gelu_erf", x, dtype), want, bound * summing(dtype))


ENDS = [-math.inf, -1e30, -200.0, 0.0, 200.0, 1e30, math.inf, math.nan]


@pytest.mark.parametrize("dtype", ["bf16", "f32", "f64"])
@pytest.mark.parametrize("op", ["relu", "silu", "gelu", "gelu_erf", "softplus"])
def test_far_from_zero(run: Run, op: str, dtype: str) -> None:
    x = np.array(ENDS).astype(NUMPY_DTYPES[dtype])
    wide = tensor(x)
    reference = {
        "relu": torch.relu,
        "silu": F.silu,
        "gelu": lambda t: F.gelu(t, approximate="tanh"),
        "gelu_erf": F.gelu,
        "softplus": F.softplus,
    }[op]
    got = torch.from_numpy(call(run, op, x, dtype).astype(np.float64))
    want = reference(wide).to(torch.float64)
    # Below f32, and so zero in it: the results at -200, of up to 1e-85.
    torch.testing.assert_close(got, want, rtol=2 * UNIT[dtype], atol=1e-80, equal_nan=True)
