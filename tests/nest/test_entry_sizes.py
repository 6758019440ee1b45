"""Extents that an entry computes from others: what fits runs, what does not is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linnet import nest
from linnet.nest import Model
from linnet.source.errors import LinnetError

SOURCE = """\
module small

pub block Model<H: Dim, T: Float> {
    param norm: Tensor[H; T]
    param head: Tensor[H, H; T]

    pub entry forward<B: Dim, S: Dim>(x: Tensor[B, S, H; T]) -> Tensor[B, S, H; T] {
        let y[b, s, o] = sum[i] x[b, s, i] * norm[i] * head[o, i]
        return y
    }

    pub entry shorter<N: Dim>(x: Tensor[N; T], y: Tensor[N - 1; T]) -> Tensor[N - 1; T] {
        return y
    }

    pub entry blocks<D: Dim>(x: Tensor[D; T]) -> Tensor[(D + 31) / 32; T] {
        return fill<T>([(D + 31) / 32], 0.0)
    }

    pub entry halves<W: Dim>(x: Tensor[W; T]) -> Tensor[W / 2, 2; T]
    where W % 2 == 0 {
        return reshape(x, [W / 2, 2])
    }

    pub entry parts<W: Dim, N: Dim>(
        x: Tensor[W; T],
        by: Tensor[N; T],
        y: Tensor[W / N; T],
    ) -> Tensor[W / N; T]
    where N > 0 {
        return y
    }
}
"""


@pytest.fixture
def model(make_card: Callable[..., Path]) -> Model:
    folder = make_card(bindings='{"norm": "n", "head": "h"}')
    (folder / "src" / "lib.linnet").write_text(SOURCE)
    manifest = '[package]\nname = "small"\nversion = "0.1.0"\nlanguage = "0.1"\n'
    (folder / "linnet.toml").write_text(manifest)
    return nest.load(folder, "numpy", weights="random")


def of(*shape: int) -> Any:
    return np.ones(shape, np.float32)


def refused(entry: Any, *args: Any) -> str:
    with pytest.raises(LinnetError) as caught:
        entry(*args)
    return str(caught.value)


def test_no_example_freezes_a_size(model: Model) -> None:
    for batch, length in [(1, 1), (3, 5), (1, 7), (2, 1), (0, 4), (4, 0), (1, 1)]:
        assert model(of(batch, length, 2)).shape == (batch, length, 2)


def test_an_extent_less_by_one(model: Model) -> None:
    assert model.shorter(of(5), of(4)).shape == (4,)
    assert model.shorter(of(1), of(0)).shape == (0,)
    text = refused(model.shorter, of(5), of(5))
    assert "error[E2202]: `y`: axis 0 is 5, it must be `N - 1`, which is 4 for N = 5" in text
    assert "src/lib.linnet:12:48" in text
    for length in (0, 1, 4):
        text = refused(model.shorter, of(0), of(length))
        assert f"axis 0 is {length}, it must be `N - 1`, which is -1 for N = 0" in text


@pytest.mark.parametrize(("width", "count"), [(64, 2), (65, 3), (33, 2), (0, 0), (1, 1), (32, 1)])
def test_rounded_up_division(model: Model, width: int, count: int) -> None:
    assert model.blocks(of(width)).shape == (count,)


def test_divisibility_is_checked_at_the_door(model: Model) -> None:
    assert model.halves(of(174)).shape == (87, 2)
    text = refused(model.halves, of(173))
    assert "error[E2206]: `where W % 2 == 0` of `halves` does not hold: W is 173" in text
    assert "src/lib.linnet:20:15" in text


def test_a_divisor_of_zero(model: Model) -> None:
    assert model.parts(of(7), of(2), of(3)).shape == (3,)
    text = refused(model.parts, of(7), of(0), of(3))
    assert "axis 0 is 3, it must be `W / N`, which divides by zero for W = 7, N = 0" in text
