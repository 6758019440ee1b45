"""Activations, softmax and rotary positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.backends.torch.kernels.harness import (
    FLOATS,
    NUMPY_DTYPES,
    UNIT,
    Call,
    call,
    draw,
    near,
    same,
    summing,
    wide,
)

# Where exponentials are 0 or infinite, on both sides of every threshold, and the zeros.
EDGES = [
    0.0,
    -0.0,
    1e-4,
    5.0,
    -5.0,
    11.0,
    -11.0,
    19.0,
    21.0,
    45.0,
    90.0,
    -90.0,
    700.0,
    np.inf,
    np.nan,
]

# The kernels, and how far apart they and the body may be in f32 or f64: relative to the result and
# in absolute terms, in units, from the size of the argument. An exponential of a rounded argument
# has an error of |x| of them, and so have those around it, that of a complementary error function
# x ** 2; one minus a number near one keeps its absolute error.
ACTIVATIONS: dict[str, tuple[str, Any, Any]] = {
    "sigmoid": ("torch.sigmoid", lambda x: 10 + x, lambda x: 0 * x),
    "silu": ("torch.silu", lambda x: 10 + x, lambda x: 0 * x),
    "softplus": ("torch.softplus", lambda x: 10 + x, lambda x: 0 * x),
    "gelu": ("torch.gelu", lambda x: 10, lambda x: 6 * x),
    "gelu_erf": ("torch.gelu_erfc", lambda x: 20 + 2 * x * x, lambda x: 0 * x),
}


def activation(op: str, x: Any, dtype: str) -> Call:
    return call(f"std.nn.activations::{op}", {"S": x.shape, "T": dtype}, x=x)


def edges(dtype: str) -> Any:
    with np.errstate(over="ignore"):
        return np.array(EDGES).astype(NUMPY_DTYPES[dtype])


def size(x: Any) -> Any:
    """|x|, as far as an exponential of it is a number."""
    return np.minimum(np.abs(np.nan_to_num(wide(x))), 800.0)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", ACTIVATIONS)
def test_activations(op: str, dtype: str) -> None:
    named, relative, absolute = ACTIVATIONS[op]
    shapes = [(), (1,), (0,), (33,), (2, 0, 3), (3, 129)]
    least = 2.0**-1022 if dtype == "f64" else 2.0**-126
    for x in (*(draw(0, shape, dtype, 6.0) for shape in shapes), edges(dtype)):
        made = activation(op, x, dtype)
        assert made.chosen("equivalent") == named
        (got,), (want,) = made.run(named), made.body()
        share = 2.02 * UNIT[dtype] + 2 * relative(size(x)) * summing(dtype)
        bound = abs(np.nan_to_num(wide(want))) * share + 2 * absolute(size(x)) * summing(dtype)
        # What underflows on the way is no further off than the least normal number.
        near(got, want, bound + least * (1 + size(x)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_relu(dtype: str) -> None:
    """Only the sign of a zero is open."""
    for x in (draw(1, (3, 33), dtype), draw(1, (0,), dtype), edges(dtype)):
        made = activation("relu", x, dtype)
        assert (made.chosen("equivalent"), made.chosen("exact")) == ("torch.relu", "body")
        near(made.run("torch.relu")[0], made.body()[0], 0.0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_gelu_with_few_digits_below_minus_three(dtype: str) -> None:
    x = draw(2, (3, 129), dtype, 4.0)
    made = activation("gelu_erf", x, dtype)
    assert made.chosen("fast") == "torch.gelu_erf"
    (got,), (want,) = made.run("torch.gelu_erf"), made.body()
    # One and an error function are added: an absolute error of its unit.
    share = 2.02 * UNIT[dtype] + 2 * (20 + 2 * size(x) ** 2) * summing(dtype)
    near(got, want, abs(wide(want)) * share + 4 * size(x) * summing(dtype))


def test_gelu_keeps_its_digits_where_it_is_small() -> None:
    """At -5 the share below is 2.866516e-7; one minus an error function has it to 3e-8 in f32."""
    x = np.float32([-5.0])
    made = activation("gelu_erf", x, "f32")
    assert abs(wide(made.run("torch.gelu_erfc")[0]).item() / (-5 * 2.866515718791933e-7) - 1) < 1e-5


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", ["std.nn.softmax::softmax", "std.nn.loss::log_softmax"])
@pytest.mark.parametrize("shape", [(1,), (5,), (0, 3), (3, 0), (2, 3, 7), (3, 129)])
@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_softmax(op: str, shape: tuple[int, ...], scale: float, dtype: str) -> None:
    x = draw(3, shape, dtype, scale)
    # Minus infinity has no share; where all are, nothing is a number.
    x.reshape(-1)[1:2] = -np.inf
    if shape[0] == 3 and op.endswith("::softmax"):
        x[1] = -np.inf
    made = call(op, {"S": shape[:-1], "N": shape[-1], "T": dtype}, x=x)
    named = f"torch.{made.site.op.partition('::')[2]}"
    assert made.chosen("equivalent") == named
    (got,), (want,) = made.run(named), made.body()
    # The difference of two numbers is off by their size in units, an exponential by that relative
    # to itself; a sum of n of them, and a quotient or a logarithm.
    reach = 2 * float(size(x[np.isfinite(wide(x))]).max(initial=0.0))
    units = 2 * (reach + shape[-1] + 8) * UNIT["f32"]
    value = np.abs(np.where(np.isfinite(wide(want)), wide(want), 0.0))
    least = 2.0**-126
    bound = value * (2.02 * UNIT[dtype] + units) + least
    near(got, want, bound if named == "torch.softmax" else bound + units)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("b", "h", "s", "d"), [(1, 1, 1, 2), (2, 3, 5, 6), (3, 1, 0, 4), (2, 2, 3, 0)]
)
def test_rope(b: int, h: int, s: int, d: int, dtype: str) -> None:
    x = draw(4, (b, h, s, d), dtype)
    x.reshape(-1)[:4] = [np.inf, -0.0, np.nan, 0.0][: x.size]
    angles = np.random.default_rng(5).uniform(-9, 9, (b, s, d))
    cosines, sines = (f(angles).astype(NUMPY_DTYPES[dtype]) for f in (np.cos, np.sin))
    generics = {"B": b, "H": h, "S": s, "D": d, "T": dtype}
    rows = call("std.nn.rope::rope_rows", generics, x=x, cos_rows=cosines, sin_rows=sines)
    assert rows.chosen("exact") == "torch.rope_rows"
    same(rows.run("torch.rope_rows")[0], rows.body()[0])
    one = call("std.nn.rope::rope", generics, x=x, cos_table=cosines[0], sin_table=sines[0])
    assert one.chosen("exact") == "torch.rope"
    same(one.run("torch.rope")[0], one.body()[0])
