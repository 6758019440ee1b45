"""swiglu against LlamaMLP in f64."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from .compare import FLOATS, UNIT, draw, near, summing, tensor, torch
from .conftest import Run, tensor_type

llama = pytest.importorskip("transformers.models.llama.modeling_llama")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("leading", "h", "n"), [((), 1, 1), ((3,), 7, 5), ((2, 0), 3, 4)])
def test_swiglu(run: Run, leading: tuple[int, ...], h: int, n: int, dtype: str) -> None:
    x = draw(0, (*leading, h), dtype)
    gate, up, down = draw(1, (n, h), dtype), draw(2, (n, h), dtype), draw(3, (h, n), dtype)
    call, result = "swiglu(x, gate, up, down)", tensor_type((*leading, h), dtype)
    got = run("std.nn.mlp::{swiglu}", call, result, x=x, gate=gate, up=up, down=down)
    config = SimpleNamespace(hidden_size=h, intermediate_size=n, mlp_bias=False, hidden_act="silu")
    layer = llama.LlamaMLP(config).to(torch.float64)
    layer.load_state_dict(
        {f"{k}_proj.weight": tensor(v) for k, v in (("gate", gate), ("up", up), ("down", down))}
    )
    with torch.no_grad():
        want = layer(tensor(x))
    product = torch.nn.functional.linear
    a, b = product(tensor(x), tensor(gate)), product(tensor(x), tensor(up))
    # Each product has 2 h roundings of the sum and one more; silu has a slope of at most 1.1 and
    # rounds once beyond f32; then the gated values round, and the last product as the first.
    sums = 2 * h * summing(dtype)
    terms = product(tensor(x).abs(), tensor(gate).abs()), product(tensor(x).abs(), tensor(up).abs())
    wrong_a = 1.1 * (UNIT[dtype] * a.abs() + sums * terms[0])
    wrong_a += torch.nn.functional.silu(a).abs() * (UNIT[dtype] + (a.abs() + 9) * summing(dtype))
    wrong_b = UNIT[dtype] * b.abs() + sums * terms[1]
    gated = torch.nn.functional.silu(a).abs() * b.abs()
    wrong = wrong_a * b.abs() + torch.nn.functional.silu(a).abs() * wrong_b + wrong_a * wrong_b
    wrong = 1.01 * wrong + UNIT[dtype] * gated
    last = tensor(down).abs()
    bound = product(wrong, last) + 2 * n * summing(dtype) * product(gated + wrong, last)
    near(got, want, 1.01 * bound + UNIT[dtype] * (want.abs() + bound))
