"""Random weights: seeded, by path, of a sensible size."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from linnet.nest.match import ParameterDecl
from linnet.nest.random_weights import random_weights


def one(path: str, shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    ((found, array),) = random_weights([ParameterDecl(path, shape, dtype)], seed)
    assert found == path
    assert array.shape == shape
    assert not array.flags.writeable
    return array


def test_the_path_and_the_seed_decide() -> None:
    a, b = ParameterDecl("a", (4, 4), "f32"), ParameterDecl("b", (4, 4), "f32")
    both = {p: v.tolist() for p, v in random_weights([a, b])}
    assert both == {p: v.tolist() for p, v in random_weights([b, a])}
    assert one("b", (4, 4), "f32").tolist() == both["b"]
    assert both["a"] != both["b"]
    assert one("a", (4, 4), "f32", seed=1).tolist() != both["a"]


def test_values_do_not_change_between_versions() -> None:
    assert one("a", (1, 2), "f32").reshape(-1).tolist() == pytest.approx(
        [-0.6809188723564148, 0.12310804426670074], rel=1e-6
    )


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_matrices_and_vectors(dtype: str) -> None:
    matrix = one("w", (64, 256), dtype)
    expected = (
        np.dtype(ml_dtypes.bfloat16) if dtype == "bf16" else np.dtype(f"f{int(dtype[1:]) // 8}")
    )
    assert matrix.dtype == expected
    assert float(matrix.astype(np.float64).std()) == pytest.approx(1 / 16, rel=0.05)
    norm = one("norm.weight", (256,), dtype).astype(np.float64)
    assert norm.mean() == pytest.approx(1, abs=0.01)
    assert norm.std() == pytest.approx(0.02, rel=0.3)
    bias = one("q.bias", (256,), dtype).astype(np.float64)
    assert abs(bias.mean()) < 0.01
    assert 0 < np.abs(bias).max() < 0.2


def test_integers_and_scales() -> None:
    assert {*one("x.blocks", (4096,), "u8").tolist()} == {*range(256)}
    assert {*one("x.scales", (4096,), "u8").tolist()} == {*range(118, 125)}
    assert {*one("x", (4096,), "i8").tolist()} == {*range(128)}
    assert one("x", (64,), "bool").dtype == np.bool_
    assert one("x", (4,), "u64").dtype == np.uint64
    assert one("x", (0, 3), "f32").size == 0
    assert one("x", (), "f32").shape == ()


def test_one_at_a_time() -> None:
    stream = random_weights(ParameterDecl(f"p{i}", (8,), "f32") for i in range(10**9))
    assert [next(stream)[0], next(stream)[0]] == ["p0", "p1"]


def test_tied_parameters_are_equal() -> None:
    declared = [ParameterDecl(p, (2, 2), "f32") for p in ("embed", "head")]
    values = {p: v.tolist() for p, v in random_weights(declared, tied=[("embed", "head")])}
    assert values["embed"] == values["head"]
