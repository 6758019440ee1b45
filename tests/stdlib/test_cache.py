"""Cache writes, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from . import reference
from .conftest import NUMPY_DTYPES, Array, Run, tensor_type

SHAPE = (3, 2, 5, 4)
DTYPES = ["f16", "bf16", "f32", "f64"]
# The ends of i32, whose distances to a position are beyond it.
ENDS = [-(2**31), 2**31 - 1]


def fresh(dtype: str, count: int, rows: int = 1) -> tuple[Array, Array]:
    """A cache, and a value of `count` positions for `rows` rows, with no two equal numbers."""
    cache = -1.0 - np.arange(np.prod(SHAPE)).reshape(SHAPE)
    value = 1.0 + np.arange(rows * 2 * count * 4).reshape(rows, 2, count, 4)
    return cache.astype(NUMPY_DTYPES[dtype]), value.astype(NUMPY_DTYPES[dtype])


def check(
    run: Run, op: str, want: Array, cache: Array, dtype: str, **inputs: Array | np.generic
) -> None:
    call = f"{op}(cache, {', '.join(inputs)})"
    use = f"std.nn.cache::{{{op}}}"
    got = run(use, call, tensor_type(SHAPE, dtype), cache=cache, **inputs)
    assert got.dtype == cache.dtype
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("at", [0, 2, 4, 5, -1])
def test_write_at(run: Run, at: int, dtype: str) -> None:
    cache, value = fresh(dtype, 1, rows=3)
    want = reference.write(cache, [(b, at, value[b, :, 0]) for b in range(3)])
    check(run, "write_at", want, cache, dtype, value=value, at=np.int32(at))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("count", "at"), [(1, 4), (3, 1), (5, 0), (0, 2), (3, 4), (2, -1)])
def test_write_span(run: Run, count: int, at: int, dtype: str) -> None:
    cache, value = fresh(dtype, count, rows=3)
    entries = [(b, at + n, value[b, :, n]) for b in range(3) for n in range(count)]
    want = reference.write(cache, entries)
    check(run, "write_span", want, cache, dtype, value=value, at=np.int32(at))


@pytest.mark.parametrize("at", ENDS)
def test_no_position_is_too_far_away(run: Run, at: int) -> None:
    cache, value = fresh("f32", 2, rows=3)
    first, row = value[:, :, :1], value[:1]
    place = {"at": np.int32(at)}
    slots = {"slots": np.array([0, at], np.int32)}
    rows = {"rows": np.array([at, 0], np.int32), "positions": np.array([0, at], np.int32)}
    check(run, "write_at", cache, cache, "f32", value=first, **place)
    check(run, "write_span", cache, cache, "f32", value=value, **place)
    check(run, "write_rows", cache, cache, "f32", value=first, at=np.full(3, at, np.int32))
    check(run, "write_slot", cache, cache, "f32", value=row, slot=np.int32(0), **place)
    check(run, "write_slots", cache, cache, "f32", value=value[:2], **slots, **place)
    check(run, "write_tokens", cache, cache, "f32", value=row, **rows)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("at", [[0, 1, 2], [4, 4, 4], [5, -1, 3]])
def test_write_rows(run: Run, at: list[int], dtype: str) -> None:
    cache, value = fresh(dtype, 1, rows=3)
    want = reference.write(cache, [(b, at[b], value[b, :, 0]) for b in range(3)])
    check(run, "write_rows", want, cache, dtype, value=value, at=np.array(at, np.int32))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("slot", "at", "count"), [(0, 0, 5), (2, 3, 2), (1, 4, 3), (3, 0, 1)])
def test_write_slot(run: Run, slot: int, at: int, count: int, dtype: str) -> None:
    cache, value = fresh(dtype, count)
    want = reference.write(cache, [(slot, at + n, value[0, :, n]) for n in range(count)])
    place = {"slot": np.int32(slot), "at": np.int32(at)}
    check(run, "write_slot", want, cache, dtype, value=value, **place)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("slots", [[0, 2], [2, 1, 0], [1, 1], [1, 0, 1], [3, -1], []])
def test_write_slots_keeps_the_last(run: Run, slots: list[int], dtype: str) -> None:
    cache, value = fresh(dtype, 3, rows=len(slots))
    entries = [(slot, 1 + n, value[m, :, n]) for m, slot in enumerate(slots) for n in range(3)]
    want = reference.write(cache, entries)
    inputs = {"slots": np.array(slots, np.int32), "at": np.int32(1)}
    check(run, "write_slots", want, cache, dtype, value=value, **inputs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "places",
    [
        [(0, 0)],
        [(2, 4), (0, 1), (2, 0)],
        [(1, 3), (1, 3), (0, 3), (1, 3)],
        [(1, 2), (1, 2), (3, 0), (0, 5), (-1, 1), (0, -1)],
        [],
    ],
)
def test_write_tokens_keeps_the_last(run: Run, places: list[tuple[int, int]], dtype: str) -> None:
    cache, value = fresh(dtype, len(places))
    entries = [(row, at, value[0, :, p]) for p, (row, at) in enumerate(places)]
    want = reference.write(cache, entries)
    rows = np.array([row for row, _ in places], np.int32)
    positions = np.array([at for _, at in places], np.int32)
    check(run, "write_tokens", want, cache, dtype, value=value, rows=rows, positions=positions)
