"""An input that is left out has the default that a call in the source would give it."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.nest import Model
from tests.nest.small import SOURCE, load, write_card

ENTRIES = """\
    pub entry several<S: Dim>(
        x: Tensor[S; f32],
        by: f32? = some(2.0),
        plus: f32 = 1.0 / 4.0,
        count: i64 = cast<i64>(S) + 1,
        each: Tensor[H; T] = fill<T>([H], -3.0),
    ) -> Tensor[S, H; T] {
        let factor = match by {
            some(b) => b
            none => 10.0
        }
        let y[s, h] = cast<T>(x[s] * factor + plus + cast<f32>(count)) + each[h]
        return y
    }

    pub entry caller<S: Dim>(x: Tensor[S; f32]) -> Tensor[S, H; T] {
        return several(x)
    }

    pub entry tail<P"""


@pytest.fixture
def model(tmp_path: Path) -> Model:
    assert SOURCE.count("    pub entry tail<P") == 1
    return load(write_card(tmp_path, ("    pub entry tail<P", ENTRIES)))


def test_all_left_out(model: Model) -> None:
    # 2 * x + 1/4 + (2 + 1) - 3
    expected = [[2.25, 2.25], [8.25, 8.25]]
    assert model.several([1, 4]).tolist() == expected
    assert model.caller([1, 4]).tolist() == expected


def test_some_given(model: Model) -> None:
    assert model.several([1], plus=0.5).tolist() == [[1.5, 1.5]]
    assert model.several([1], count=0, each=[0, 1]).tolist() == [[2.25, 3.25]]
    assert model.several([1], by=5.0).tolist() == [[4.25, 4.25]]


def test_none_is_no_default(model: Model) -> None:
    assert model.several([1], by=None).tolist() == [[9.25, 9.25]]
    assert model.several([1]).tolist() == [[1.25, 1.25]]
