"""std.special against PyTorch in f64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from .compare import UNIT, near, tensor, torch
from .conftest import NUMPY_DTYPES, Array, Run, tensor_type

ENDS = [-math.inf, -2.0, -1.0, -0.0, 0.0, 1.0, 2.0, math.inf, math.nan]


def call(run: Run, name: str, x: Array, dtype: str) -> Array:
    return run(f"std.special::{{{name}}}", f"{name}(x)", tensor_type(x.shape, dtype), x=x)


def spread(seed: int, shape: tuple[int, ...], dtype: str) -> Array:
    """Numbers below 1 of every size down to 2 ** -60, of both signs."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, shape) * 2.0 ** rng.integers(-60, 1, shape)
    return x.astype(NUMPY_DTYPES[dtype])


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("shape", [(1,), (0, 3), (501,), (2, 3, 5)])
def test_values(run: Run, shape: tuple[int, ...], dtype: str) -> None:
    unit = UNIT[dtype]
    x = spread(0, shape, dtype)
    # A logarithm within two units, a quotient, a product, and the same of the reference.
    want = torch.log1p(tensor(x))
    near(call(run, "log1p", x, dtype), want, 8 * unit * want.abs())
    larger = (np.abs(x) * 1e9).astype(x.dtype)
    want = torch.log1p(tensor(larger))
    near(call(run, "log1p", larger, dtype), want, 8 * unit * want.abs())
    wide = (x * 5).astype(x.dtype)
    want = torch.special.erfc(tensor(wide))
    # `x ** 2` rounds, a relative error of its exponential; a quotient of polynomials, of positive
    # terms only, has up to 20 roundings above and below.
    near(call(run, "erfc", wide, dtype), want, (tensor(wide).square() + 48) * unit * want)
    # The same quotient of polynomials near zero, further out one less its complement: the errors of
    # that, and a unit of the difference on each side of the comparison.
    want = torch.special.erf(tensor(wide))
    complement = (tensor(wide).square() + 48) * unit * torch.special.erfc(tensor(wide).abs())
    bound = torch.where(
        tensor(wide).abs() <= 0.46875, 48 * unit * want.abs(), complement + 2 * unit
    )
    near(call(run, "erf", wide, dtype), want, bound)
    if dtype == "f64":
        torch_is_off = 4 * unit
        check_inverse(call(run, "erf_inv", x, dtype), x, 48 * unit + torch_is_off)
    else:
        # Giles gives 3.5e-7 for the polynomials, six units.
        check_inverse(call(run, "erf_inv", x, dtype), x, 4e-7)


def check_inverse(got: Array, x: Array, relative: float) -> None:
    """`x` may be off by a unit of 1 - |x| in the reference, which its slope makes more of."""
    want: Any = torch.special.erfinv(tensor(x))
    near(got, want, relative * want.abs() * (1 + 1e-3))


@pytest.mark.parametrize("dtype", ["bf16", "f32", "f64"])
@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("log1p", torch.log1p),
        ("erf", torch.special.erf),
        ("erfc", torch.special.erfc),
        ("erf_inv", torch.special.erfinv),
    ],
)
def test_ends(run: Run, name: str, reference: Any, dtype: str) -> None:
    x = np.array(ENDS).astype(NUMPY_DTYPES[dtype])
    got = torch.from_numpy(call(run, name, x, dtype).astype(np.float64))
    rtol = 64 * UNIT[dtype]
    torch.testing.assert_close(got, reference(tensor(x)), rtol=rtol, atol=0.0, equal_nan=True)
