"""Writes into caches, as new caches and in place, against the bodies: always the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.backends.torch.kernels.harness import (
    FLOATS,
    Call,
    bits,
    call,
    draw,
    evaluate,
    names,
    to_torch,
)

# Positions on both sides of both ends, some so far away that a sum in 32 bits would wrap.
FAR = [-(2**31), 2**31 - 1]
CACHES = [(1, 1, 1, 1), (3, 2, 5, 4), (2, 1, 7, 3), (2, 0, 3, 2)]


def write(op: str, cache: Any, value: Any, **places: Any) -> Call:
    generics: dict[str, Any] = dict(zip("BHSD", cache.shape, strict=True))
    generics["T"] = {np.float16: "f16", np.float32: "f32", np.float64: "f64"}.get(
        cache.dtype.type, "bf16"
    )
    extra = {"write_span": {"N": 2}, "write_slot": {"N": 2}, "write_tokens": {"P": 2}}
    for name, axis in extra.get(op, {}).items():
        generics[name] = value.shape[axis]
    if op == "write_slots":
        generics |= {"M": value.shape[0], "N": value.shape[2]}
    return call(f"std.nn.cache::{op}", generics, cache=cache, value=value, **places)


def check(made: Call) -> None:
    """The body's bits, in a new cache and in place."""
    named = made.chosen("exact")
    assert named == f"torch.{made.site.op.partition('::')[2]}"
    (want,) = made.body()
    assert made.run(named)[0].tobytes() == want.tobytes()
    kernel = made.kernel(named)
    assert kernel.in_place == "cache" and kernel.emit_in_place is not None
    tensors = [to_torch(x) for x in made.operands()]
    # A cache that is part of a larger one, as a layer's of all layers.
    whole = tensors[0].new_zeros((2, *tensors[0].shape))
    tensors[0] = whole[1].copy_(tensors[0])
    others = [bits(x) for x in tensors[1:]]
    (got,) = evaluate(kernel.emit_in_place(made.site, names(tensors)), tensors)
    assert got.data_ptr() == tensors[0].data_ptr()
    assert bits(tensors[0]) == want.tobytes()
    assert not whole[0].any()
    assert [bits(x) for x in tensors[1:]] == others


def drawn(shape: tuple[int, ...], dtype: str) -> Any:
    """What moves without a change also if it is no number, or minus zero."""
    values = draw(len(shape), shape, dtype)
    values.reshape(-1)[::3] = np.nan
    values.reshape(-1)[1::5] = -0.0
    return values


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", CACHES)
def test_write_at(shape: tuple[int, int, int, int], dtype: str) -> None:
    b, h, s, d = shape
    for at in [*range(-2, s + 2), *FAR]:
        check(write("write_at", draw(0, shape, dtype), drawn((b, h, 1, d), dtype), at=np.int32(at)))


@pytest.mark.parametrize("dtype", ["bf16", "f32"])
@pytest.mark.parametrize("shape", CACHES)
@pytest.mark.parametrize("count", [0, 1, 3, 5, 9])
def test_write_span(shape: tuple[int, int, int, int], count: int, dtype: str) -> None:
    b, h, s, d = shape
    value = drawn((b, h, count, d), dtype)
    for at in [*range(-count - 1, s + 2), *FAR]:
        check(write("write_span", draw(0, shape, dtype), value, at=np.int32(at)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [*CACHES, (0, 1, 2, 1)])
def test_write_rows(shape: tuple[int, int, int, int], dtype: str) -> None:
    b, h, s, d = shape
    rng = np.random.default_rng(1)
    for at in (rng.integers(-2, s + 2, b), rng.choice(FAR, b), np.full(b, s - 1)):
        value = drawn((b, h, 1, d), dtype)
        check(write("write_rows", draw(0, shape, dtype), value, at=at.astype(np.int32)))


@pytest.mark.parametrize("dtype", ["f16", "f64"])
@pytest.mark.parametrize("shape", [*CACHES, (0, 1, 2, 1)])
@pytest.mark.parametrize("count", [0, 1, 3, 9])
def test_write_slot(shape: tuple[int, int, int, int], count: int, dtype: str) -> None:
    b, h, s, d = shape
    value = drawn((1, h, count, d), dtype)
    for slot in [-1, 0, b - 1, b, *FAR]:
        for at in [-2, 0, s - 1, s, *FAR]:
            place = {"slot": np.int32(slot), "at": np.int32(at)}
            check(write("write_slot", draw(0, shape, dtype), value, **place))


@pytest.mark.parametrize("dtype", ["bf16", "f32"])
@pytest.mark.parametrize("shape", [*CACHES, (0, 1, 2, 1)])
@pytest.mark.parametrize(("many", "count"), [(0, 2), (1, 1), (4, 3), (7, 9), (3, 0)])
def test_write_slots(shape: tuple[int, int, int, int], many: int, count: int, dtype: str) -> None:
    """More writes than rows, so that some meet, and some outside."""
    b, h, s, d = shape
    value = drawn((many, h, count, d), dtype)
    rng = np.random.default_rng(2)
    for at in [-2, 0, s - 1, s, *FAR]:
        for slots in (rng.integers(-1, b + 1, many), rng.choice(FAR, many), np.zeros(many)):
            place = {"slots": slots.astype(np.int32), "at": np.int32(at)}
            check(write("write_slots", draw(0, shape, dtype), value, **place))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [*CACHES, (0, 1, 2, 1)])
@pytest.mark.parametrize("count", [0, 1, 4, 40])
def test_write_tokens(shape: tuple[int, int, int, int], count: int, dtype: str) -> None:
    """Forty writes into few places, so that many meet; some outside, none inside, one place."""
    b, h, s, d = shape
    value = drawn((1, h, count, d), dtype)
    rng = np.random.default_rng(3)
    for rows, positions in (
        (rng.integers(-1, b + 1, count), rng.integers(-1, s + 1, count)),
        (rng.integers(-1, b + 1, count), rng.choice(FAR, count)),
        (np.zeros(count), np.full(count, s - 1)),
        (np.full(count, -1), np.zeros(count)),
    ):
        place = {"rows": rows.astype(np.int32), "positions": positions.astype(np.int32)}
        check(write("write_tokens", draw(0, shape, dtype), value, **place))
