"""Normalization."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.backends.torch.kernels.harness import FLOATS, UNIT, call, draw, near, same, torch, wide

EPS = np.float32(1e-5)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 33), (0, 4), (3, 0), (2, 3, 5)])
@pytest.mark.parametrize("scale", [1e-3, 30.0])
def test_rms_norm(shape: tuple[int, ...], scale: float, dtype: str) -> None:
    x, weight = draw(5, shape, dtype, scale), draw(6, shape[-1:], dtype)
    generics = {"S": shape[:-1], "H": shape[-1], "T": dtype}
    made = call("std.nn.norm::rms_norm", generics, x=x, weight=weight, eps=EPS)
    assert made.chosen("equivalent") == "torch.rms_norm"
    (got,), (want,) = made.run("torch.rms_norm"), made.body()
    # Two roundings on either side; in f32 on either side n sums, their root's half, six more.
    near(got, want, abs(wide(want)) * (4.04 * UNIT[dtype] + 2 * (shape[-1] + 6) * UNIT["f32"]))


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_rms_norm_rounds_before_the_weight(dtype: str) -> None:
    """As many bits as GptOssRMSNorm, which multiplies by the weight in the same place; rounding
    only after the weight would differ in some."""
    peer = pytest.importorskip("transformers.models.llama.modeling_llama")
    x, weight = draw(7, (64, 32), dtype), draw(8, (32,), dtype)
    made = call(
        "std.nn.norm::rms_norm", {"S": (64,), "H": 32, "T": dtype}, x=x, weight=weight, eps=EPS
    )
    (got,) = made.run("torch.rms_norm")
    module = peer.LlamaRMSNorm(32, eps=1e-5).to(
        {"f16": torch.float16, "bf16": torch.bfloat16}[dtype]
    )
    from tests.backends.torch.kernels.harness import from_torch, to_torch

    with torch.no_grad():
        module.weight.data = to_torch(weight)
        same(got, from_torch(module(to_torch(x))))
    late = wide(x) / np.sqrt((wide(x) ** 2).mean(-1, keepdims=True) + 1e-5) * wide(weight)
    assert (wide(got) != wide(late.astype(got.dtype))).any()


def spread(x: Any, axes: tuple[int, ...]) -> Any:
    """How large what is normed may get where its parts are taken without a sign."""
    mean = abs(x).mean(axes, keepdims=True)
    return (abs(x) + mean) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 33), (0, 4), (2, 3, 5)])
@pytest.mark.parametrize("biased", [False, True])
def test_layer_norm(shape: tuple[int, ...], biased: bool, dtype: str) -> None:
    x = draw(9, shape, dtype, 3.0)
    arrays = {"weight": draw(10, shape[-1:], dtype)}
    if biased:
        arrays["bias"] = draw(11, shape[-1:], dtype)
    generics = {"S": shape[:-1], "H": shape[-1], "T": dtype}
    made = call("std.nn.norm::layer_norm", generics, x=x, **arrays, eps=EPS)
    (got,), (want,) = made.run("torch.layer_norm"), made.body()
    n = shape[-1]
    size = spread(wide(x), (-1,)) * abs(wide(arrays["weight"]))
    # In f32 on either side: the mean's n sums, again in the variance, which counts half, and ten.
    near(
        got,
        want,
        2.02 * UNIT[dtype] * abs(wide(want)) + 2 * (2 * n + 10) * UNIT["f32"] * (size + 1),
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("shape", "groups"), [((1, 1, 1, 1), 1), ((2, 6, 3, 5), 3), ((0, 2, 3, 1), 2)]
)
def test_group_norm(shape: tuple[int, int, int, int], groups: int, dtype: str) -> None:
    batch, channels, height, width = shape
    x = draw(12, shape, dtype, 3.0)
    weight, bias = (draw(i, (channels,), dtype) for i in (13, 14))
    generics = dict(zip("BCHW", shape, strict=True)) | {"Groups": groups, "T": dtype}
    made = call("std.nn.norm::group_norm", generics, x=x, weight=weight, bias=bias, eps=EPS)
    (got,), (want,) = made.run("torch.group_norm"), made.body()
    n = channels // groups * height * width
    size = spread(wide(x).reshape(batch, groups, n), (-1,)).reshape(shape)
    size = size * abs(wide(weight))[:, None, None]
    near(
        got,
        want,
        2.02 * UNIT[dtype] * abs(wide(want)) + 2 * (2 * n + 10) * UNIT["f32"] * (size + 1),
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 5, 3, 4), (0, 2, 1, 3)])
def test_batch_norm(shape: tuple[int, int, int, int], dtype: str) -> None:
    channels = shape[1]
    x = draw(15, shape, dtype, 3.0)
    mean, weight, bias = (draw(i, (channels,), dtype) for i in (16, 17, 18))
    variance = abs(draw(19, (channels,), dtype))
    generics = dict(zip("BCHW", shape, strict=True)) | {"T": dtype}
    arrays = {"mean": mean, "variance": variance, "weight": weight, "bias": bias}
    made = call("std.nn.norm::batch_norm", generics, x=x, **arrays, eps=EPS)
    (got,), (want,) = made.run("torch.batch_norm"), made.body()
    m, v, w, b = (abs(wide(a))[:, None, None] for a in (mean, variance, weight, bias))
    size = (abs(wide(x)) + m) / np.sqrt(v + 1e-5) * w + b
    near(got, want, 2.02 * UNIT[dtype] * abs(wide(want)) + 20 * UNIT["f32"] * size)


def test_groups_are_a_number() -> None:
    x = draw(12, (1, 2, 1, 1), "f32")
    weight = draw(13, (2,), "f32")
    generics = {"B": 1, "C": 2, "H": 1, "W": 1, "T": "f32"}
    made = call("std.nn.norm::group_norm", generics, x=x, weight=weight, bias=weight, eps=EPS)
    assert made.refused("torch.group_norm") == "`Groups` is Groups, which is not a number yet"
