"""Entries that take and give tuples, structs, optionals and enums, as Python has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from linnet import nest
from linnet.nest import Model
from tests.nest.small import refused

SOURCE = """\
module small

pub enum Pooling { Mean, Last }

pub type Rows<N: Dim> = Tensor[N, 2; f32]

pub struct Cache<N: Dim> {
    key: Rows<N>
    value: Rows<N>
    mask: Tensor[N; bool]?
}

pub struct Request<N: Dim> {
    cache: Cache<N>
    pooling: Pooling
    scales: (f32, f32)
}

pub block Model<H: Dim, T: Float> {
    param norm: Tensor[H; T]
    param head: Tensor[H, H; T]

    pub entry forward<N: Dim>(x: Rows<N>, how: Pooling = Pooling.Mean) -> Tensor[2; f32]
    where N > 0 {
        let mean[d] = (sum[n] x[n, d]) / cast<f32>(N)
        return match how { Mean => mean  Last => x[N - 1, :] }
    }

    pub entry whole<N: Dim>(request: Request<N>, last: Pooling?) -> Tensor[2; f32] where N > 0 {
        let (a, b) = request.scales
        let x = request.cache.key * a + request.cache.value * b
        let kept[n, d] = match request.cache.mask {
            some(m) => if m[n] { x[n, d] } else { 0.0 }
            none => x[n, d]
        }
        let y = forward(kept, request.pooling)
        return match last { some(how) => y + forward(x, how)  none => y }
    }

    pub entry pair<S: Dim>(
        both: (Tensor[S; f32]?, Tensor[S; f32]),
        more: (i32, bool) = (1, true),
    ) -> Tensor[S; f32] {
        let (first, second) = both
        let (factor, on) = more
        let y = match first { some(v) => v + second  none => second }
        return if on { y * cast<f32>(factor) } else { y }
    }

    pub entry request<N: Dim>(
        x: Rows<N>, mask: Tensor[N; bool]?, how: Pooling, i: i32,
    ) -> Request<N> {
        let cache = Cache { key: x, value: x + x, mask: mask }
        let chosen = if i > 0 { how } else { Pooling.Mean }
        return Request { cache: cache, pooling: chosen, scales: (2.0, 3.0) }
    }

    pub entry nothing() -> Pooling? { return none }

    pub entry known() -> (Pooling, Pooling?, f32?) {
        return (Pooling.Last, some(Pooling.Mean), some(1.5))
    }

    pub entry chosen(i: i32, v: f32?) -> (f32?, Pooling?) {
        let last: Pooling? = if i > 1 { some(Pooling.Last) } else { none }
        let kept: f32? = if i > 0 { v } else { none }
        return (kept, last)
    }
}
"""

KEY = np.array([[1, 2], [3, 4], [5, 7]], np.float32)
VALUE = np.array([[10, 20], [30, 50], [70, 110]], np.float32)
MASK = np.array([True, False, True])


class Cache(NamedTuple):
    key: Any
    value: Any
    mask: Any = None


WAYS: list[tuple[str, dict[str, Any]]] = [
    ("numpy", {}),
    ("torch", {"compile": False}),
    ("torch", {"compile": True}),
]


@pytest.fixture(params=WAYS, ids=["numpy", "torch", "torch-source"])
def model(make_card: Callable[..., Path], request: pytest.FixtureRequest) -> Model:
    backend, options = request.param
    folder = make_card(bindings='{"norm": "n", "head": "h"}')
    (folder / "src" / "lib.linnet").write_text(SOURCE)
    manifest = '[package]\nname = "small"\nversion = "0.1.0"\nlanguage = "0.1"\n'
    (folder / "linnet.toml").write_text(manifest)
    return nest.load(folder, backend, weights="random", **options)


def test_an_enum_is_the_name_of_a_variant(model: Model) -> None:
    np.testing.assert_array_equal(model.forward(KEY, "Last"), KEY[-1])
    np.testing.assert_allclose(model.forward(KEY, how="Mean"), KEY.mean(0), rtol=1e-6)
    np.testing.assert_allclose(model.forward(KEY), KEY.mean(0), rtol=1e-6)
    text = refused("E2107", model.forward, KEY, "Lost")
    assert "`how`: no variant `Lost`" in text and "did you mean `Last`" in text
    assert "Pooling` has Mean, Last" in refused("E2101", model.forward, KEY, 1)


@pytest.mark.parametrize("mask", [None, MASK])
@pytest.mark.parametrize("last", [None, "Last", "Mean"])
@pytest.mark.parametrize("pooling", ["Mean", "Last"])
def test_a_struct_is_a_mapping(
    model: Model, mask: np.ndarray | None, last: str | None, pooling: str
) -> None:
    def pool(x: np.ndarray, how: str) -> np.ndarray:
        return x.mean(0) if how == "Mean" else x[-1]

    x = KEY * 2 + VALUE * 3
    kept = x if mask is None else x * mask[:, None]
    wanted = pool(kept, pooling) + (0 if last is None else pool(x, last))
    cache: dict[str, Any] = {"value": VALUE.tolist(), "key": KEY}
    caches: list[Any] = [cache | {"mask": mask}, Cache(KEY, VALUE, mask)]
    if mask is None:
        caches.append(cache)
    for given in caches:
        request = {"cache": given, "pooling": pooling, "scales": (2, 3.0)}
        np.testing.assert_allclose(model.whole(request, last), wanted, rtol=1e-6)
        np.testing.assert_allclose(model.whole(last=last, request=request), wanted, rtol=1e-6)


def test_a_tuple_is_a_tuple(model: Model) -> None:
    one, two = np.array([1, 2], np.float32), np.array([10, 30], np.float32)
    np.testing.assert_array_equal(model.pair((one, two)), one + two)
    np.testing.assert_array_equal(model.pair([None, two]), two)
    np.testing.assert_array_equal(model.pair((one, two), (3, True)), (one + two) * 3)
    np.testing.assert_array_equal(model.pair((None, two), more=(3, False)), two)


@pytest.mark.parametrize("mask", [None, MASK])
def test_a_result_has_the_form_of_an_input(model: Model, mask: np.ndarray | None) -> None:
    found = model.request(KEY, mask, "Last", 1)
    assert list(found) == ["cache", "pooling", "scales"]
    assert list(found["cache"]) == ["key", "value", "mask"]
    np.testing.assert_array_equal(found["cache"]["value"], KEY + KEY)
    assert (found["pooling"], found["scales"]) == ("Last", (2.0, 3.0))
    if mask is None:
        assert found["cache"]["mask"] is None
    else:
        np.testing.assert_array_equal(found["cache"]["mask"], mask)
    assert model.request(KEY, mask, "Last", 0)["pooling"] == "Mean"
    x = KEY * 8 if mask is None else KEY * 8 * mask[:, None]
    np.testing.assert_allclose(model.whole(found), x[-1], rtol=1e-6)


def test_a_result_that_is_known_before_the_run_has_a_value(model: Model) -> None:
    assert model.nothing() is None
    assert model.known() == ("Last", "Mean", 1.5)


def test_whether_an_optional_result_is_there_may_depend_on_the_run(model: Model) -> None:
    assert model.chosen(2, 0.5) == (0.5, "Last")
    assert model.chosen(1, 0.5) == (0.5, None)
    assert model.chosen(0, 0.5) == (None, None)
    assert model.chosen(2, None) == (None, "Last")


def test_what_does_not_fit_is_named_by_its_path(model: Model) -> None:
    good = {"cache": Cache(KEY, VALUE), "pooling": "Mean", "scales": (1, 2)}

    def said(code: str, **change: Any) -> str:
        return refused(code, model.whole, good | change)

    assert "`request.cache.key` and" not in said("E2202", cache=Cache(KEY, VALUE[:2]))
    assert "in `request.cache.key`" in said("E2202", cache=Cache(KEY, VALUE[:2]))
    assert "`request.cache.mask` is float64" in said("E2103", cache=Cache(KEY, VALUE, np.ones(3)))
    assert "no value for `value` of `request.cache`" in said("E2102", cache={"key": KEY})
    text = said("E2102", cache={"key": KEY, "valu": VALUE})
    assert "`request.cache` has no field `valu`" in text and "did you mean `value`" in text
    assert "`request.cache` is a `Cache" in said("E2101", cache=KEY)
    assert "`request.scales` is a tuple of 2, not of 3" in said("E2101", scales=(1, 2, 3))
    assert "`request.scales` is a tuple of 2" in said("E2101", scales=1.0)
    assert "`request.scales.1` is no array" in said("E2101", scales=(1, "a"))
    assert "`request.pooling`: no variant `Max`" in said("E2107", pooling="Max")
    assert "no value for the input `request`" in refused("E2102", model.whole)
