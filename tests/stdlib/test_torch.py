"""The ops against PyTorch and transformers, at odd sizes and in every dtype.

Where both round at the same places the bits are equal. Elsewhere the reference is computed in
f64 from the same inputs, and the bound counts the roundings that the op's documentation states.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from .compare import FLOATS, TORCH, UNIT, draw, near, same_bits, summing, tensor
from .conftest import NUMPY_DTYPES, Array, Run, tensor_type

torch = pytest.importorskip("torch")
llama = pytest.importorskip("transformers.models.llama.modeling_llama")
gpt_oss = pytest.importorskip("transformers.models.gpt_oss.modeling_gpt_oss")
mxfp4 = pytest.importorskip("transformers.integrations.mxfp4")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("leading", "n", "o"), [((), 1, 1), ((3,), 7, 5), ((2, 0), 3, 4)])
@pytest.mark.parametrize("biased", [False, True])
def test_linear(
    run: Run, leading: tuple[int, ...], n: int, o: int, biased: bool, dtype: str
) -> None:
    x, w, b = draw(0, (*leading, n), dtype), draw(1, (o, n), dtype), draw(2, (o,), dtype)
    inputs = {"x": x, "w": w} | ({"b": b} if biased else {})
    call = f"linear(x, w{', some(b)' if biased else ''})"
    got = run("std.nn.linear::{linear}", call, tensor_type((*leading, o), dtype), **inputs)
    product = torch.nn.functional.linear(tensor(x), tensor(w))
    want = product + tensor(b) if biased else product
    terms = torch.nn.functional.linear(tensor(x).abs(), tensor(w).abs())
    # The product rounds, then its sum with the bias; and so do the n products and n sums.
    near(
        got,
        want,
        1.01 * UNIT[dtype] * (product.abs() + want.abs()) + 2 * n * summing(dtype) * terms,
    )


@pytest.mark.parametrize(("dtype", "large"), [("bf16", 256.0), ("f16", 2048.0)])
def test_linear_rounds_before_the_bias(run: Run, dtype: str, large: float) -> None:
    """The product is odd where the dtype has even numbers only, and rounds down; adding one gives
    an odd number again. Rounded once, the result would be `large + 2`."""
    x, w, b = (np.array(v).astype(NUMPY_DTYPES[dtype]) for v in ([[large, 1.0]], [[1.0, 1.0]], [1]))
    use, result = "std.nn.linear::{linear}", tensor_type((1, 1), dtype)
    got = run(use, "linear(x, w, some(b))", result, x=x, w=w, b=b)
    same_bits(got, torch.matmul(tensor(x, dtype), tensor(w, dtype).T) + tensor(b, dtype))
    assert got.astype(np.float64).item() == large


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("leading", "n", "o"), [((3,), 7, 5), ((2, 2), 4, 3)])
def test_linear_is_two_operations_of_torch(
    run: Run, leading: tuple[int, ...], n: int, o: int, dtype: str
) -> None:
    """Integers, whose sums are exact, and a bias with a fraction, so that the two roundings are
    all that there is."""
    rng = np.random.default_rng(18)
    x, w = (rng.integers(-30, 31, s).astype(NUMPY_DTYPES[dtype]) for s in ((*leading, n), (o, n)))
    b = draw(19, (o,), dtype)
    call, result = "linear(x, w, some(b))", tensor_type((*leading, o), dtype)
    got = run("std.nn.linear::{linear}", call, result, x=x, w=w, b=b)
    same_bits(got, torch.matmul(tensor(x, dtype), tensor(w, dtype).T) + tensor(b, dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("leading", [(), (1,), (0,), (2, 3)])
def test_embedding(run: Run, leading: tuple[int, ...], dtype: str) -> None:
    table = draw(3, (11, 5), dtype)
    ids = np.random.default_rng(4).integers(0, 11, leading).astype(np.int32)
    if not leading:
        ids = np.asarray([3], np.int32)
    got = run(
        "std.nn.embedding::{embedding}",
        "embedding(ids, t)",
        tensor_type((*ids.shape, 5), dtype),
        ids=ids,
        t=table,
    )
    same_bits(got, torch.nn.functional.embedding(torch.from_numpy(ids), tensor(table, dtype)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 33), (0, 4), (2, 3, 5)])
@pytest.mark.parametrize("scale", [1e-3, 30.0])
def test_rms_norm(run: Run, shape: tuple[int, ...], scale: float, dtype: str) -> None:
    x, w = draw(5, shape, dtype, scale), draw(6, shape[-1:], dtype)
    got = run("std.nn.norm::{rms_norm}", "rms_norm(x, w)", tensor_type(shape, dtype), x=x, w=w)
    with torch.no_grad():
        narrow = llama.LlamaRMSNorm(shape[-1], eps=1e-5).to(TORCH[dtype])
        narrow.weight.data = tensor(w, dtype)
        want = narrow(tensor(x, dtype)).to(torch.float64)
    # Two roundings to T on either side, where one unit in the last place may differ; in f32, on
    # either side, n sums, their square root's half of it, and six more.
    wide = (shape[-1] + 6) * UNIT["f32"]
    near(got, want, want.abs() * (4 * UNIT[dtype] + 2 * wide))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1,), (5,), (0, 3), (3, 0), (2, 3, 7)])
@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_softmax(run: Run, shape: tuple[int, ...], scale: float, dtype: str) -> None:
    x = draw(7, shape, dtype, scale)
    got = run("std.nn.softmax::{softmax}", "softmax(x)", tensor_type(shape, dtype), x=x)
    want = torch.softmax(tensor(x), dim=-1)
    # f32 rounds two numbers and their difference, by `reach` units together, and that is a
    # relative error of its exponential; the sum has n of them, then the quotient.
    reach = 4 * float(tensor(x).abs().max()) if x.size else 0.0
    wide = (2 * reach + 2 * shape[-1] + 6) * UNIT["f32"]
    near(got, want, want * (UNIT[dtype] + wide))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(1,), (0,), (33,), (2, 0, 3), (3, 5)])
def test_sigmoid(run: Run, shape: tuple[int, ...], dtype: str) -> None:
    x = draw(8, shape, dtype, 6.0)
    got = run("std.nn.activations::{sigmoid}", "sigmoid(x)", tensor_type(shape, dtype), x=x)
    want = torch.sigmoid(tensor(x))
    # The input rounds to f32, a relative error of |x| units in the exponential; on either side,
    # an exponential within two units, a sum and a quotient.
    near(got, want, want * (UNIT[dtype] + (tensor(x).abs() + 8) * summing(dtype)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("b", "h", "s", "d"), [(1, 1, 1, 2), (2, 3, 5, 6), (3, 1, 0, 4)])
def test_rope(run: Run, b: int, h: int, s: int, d: int, dtype: str) -> None:
    x = draw(9, (b, h, s, d), dtype)
    angles = np.random.default_rng(10).uniform(-9, 9, (b, s, d // 2))
    full = np.concatenate([angles, angles], axis=-1)
    cosines, sines = (f(full).astype(NUMPY_DTYPES[dtype]) for f in (np.cos, np.sin))
    result = tensor_type(x.shape, dtype)
    narrow = [tensor(t, dtype) for t in (cosines, sines)]
    want, _ = llama.apply_rotary_pos_emb(*2 * [tensor(x, dtype)], *narrow)
    got = run("std.nn.rope::{rope_rows}", "rope_rows(x, c, s)", result, x=x, c=cosines, s=sines)
    same_bits(got, want)
    want, _ = llama.apply_rotary_pos_emb(*2 * [tensor(x, dtype)], *(t[:1] for t in narrow))
    got = run("std.nn.rope::{rope}", "rope(x, c, s)", result, x=x, c=cosines[0], s=sines[0])
    same_bits(got, want)
    got = run("std.nn.rope::{rotate_half}", "rotate_half(x)", result, x=x)
    same_bits(got, llama.rotate_half(tensor(x, dtype)))


@pytest.mark.parametrize(("q", "k"), [(1, 1), (3, 3), (2, 5), (5, 2), (0, 3), (3, 0)])
def test_causal_mask(run: Run, q: int, k: int) -> None:
    result = tensor_type((q, k), "bool")
    got = run("std.nn.attention::{causal_mask}", f"causal_mask<{q}, {k}>()", result)
    want = torch.ones(q, k, dtype=torch.bool).tril(diagonal=k - q)
    assert got.tobytes() == want.numpy().tobytes()


@pytest.mark.parametrize(("q", "k", "at"), [(1, 1, 0), (1, 8, 3), (3, 8, 2), (3, 2, 7), (2, 0, 1)])
def test_a_mask_over_a_cache(run: Run, q: int, k: int, at: int) -> None:
    result = f"Tensor[{q}, {k}; bool]"
    call = f"causal_mask_at<{q}, {k}>({at})"
    got = run("std.nn.attention::{causal_mask_at}", call, result)
    want = torch.arange(k) <= at + torch.arange(q)[:, None]
    assert np.array_equal(got, want.numpy())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("b", "hq", "hk", "q", "k", "d"),
    [(1, 1, 1, 1, 1, 1), (2, 6, 2, 3, 5, 7), (3, 4, 4, 1, 9, 4), (1, 8, 1, 7, 7, 3)],
)
def test_sink_attention(
    run: Run, b: int, hq: int, hk: int, q: int, k: int, d: int, dtype: str
) -> None:
    query, sinks = draw(11, (b, hq, q, d), dtype), draw(12, (hq,), dtype, 3.0)
    key, value = draw(13, (b, hk, k, d), dtype), draw(14, (b, hk, k, d), dtype)
    # The first query of each row sees nothing.
    mask = np.random.default_rng(15).random((b, q, k)) < 0.6
    mask[:, 0] = False
    got = run(
        "std.nn.attention::{sink_attention}",
        "sink_attention(q, k, v, sinks, scale, mask)",
        tensor_type(query.shape, dtype),
        q=query,
        k=key,
        v=value,
        sinks=sinks,
        scale=np.float32(0.5),
        mask=mask,
    )
    module = SimpleNamespace(num_key_value_groups=hq // hk, sinks=tensor(sinks), training=False)
    added = torch.where(torch.from_numpy(mask)[:, None], 0.0, -torch.inf)
    mixed, _ = gpt_oss.eager_attention_forward(
        module, tensor(query), tensor(key), tensor(value), added.to(torch.float64), 0.5
    )
    want = mixed.transpose(1, 2)
    assert (got[:, :, 0] == 0).all()
    # Scores are sums of d products, at most `reach` in size, whose error is a relative one of
    # the weights; k weights add up, and k products of them and the values.
    reach = 0.5 * d * float(abs(query).max() * abs(key).max())
    wide = (2 * d * reach + 4 * k + 8) * UNIT["f32"] * float(abs(value).max())
    near(got, want, UNIT[dtype] * want.abs() + wide)


# R rows, K experts each, E experts, Out, G blocks of 32. In the last one the rows are as many as
# a prompt's and all choose one expert, so that any limit on an expert's tokens would show.
SIZES = [(1, 1, 1, 1, 1), (3, 2, 5, 7, 2), (0, 2, 3, 4, 1), (16, 2, 4, 3, 1)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", SIZES)
def test_mxfp4_products(run: Run, size: tuple[int, int, int, int, int], dtype: str) -> None:
    rows, chosen, count, out, groups = size
    rng = np.random.default_rng(16)
    blocks = rng.integers(0, 256, (count, out, groups, 16), dtype=np.uint8)
    scales = rng.integers(122, 130, (count, out, groups), dtype=np.uint8)
    experts = rng.integers(0, count, (rows, chosen)) * (rows < 16)
    x = draw(17, (rows, chosen, groups * 32), dtype)
    weights = rng.random((rows, chosen)).astype(NUMPY_DTYPES[dtype])
    unpacked = mxfp4.convert_moe_packed_tensors(
        torch.from_numpy(blocks), torch.from_numpy(scales), dtype=torch.float64
    )

    def call(op: str, x: Array, shape: tuple[int, ...], **more: Array) -> Array:
        return run(
            f"std.quant::{{{op}}}",
            f"{op}<{rows}, {chosen}, {count}, {out}, {groups}, {dtype}>"
            f"({', '.join(['x, blocks, scales, experts', *more])})",
            tensor_type(shape, dtype),
            x=x,
            blocks=blocks,
            scales=scales,
            experts=experts,
            **more,
        )

    def product(x: Array) -> tuple[Any, Any]:
        """The products and what they would be if no term had a sign."""
        matrices = unpacked[torch.from_numpy(experts)]
        pair = (tensor(x), matrices), (tensor(x).abs(), matrices.abs())
        one, other = (torch.einsum("rki,rkio->rko", v.expand(-1, chosen, -1), w) for v, w in pair)
        return one, other

    width = groups * 32
    want, terms = product(x)
    bound = UNIT[dtype] * want.abs() + 2 * width * summing(dtype) * terms
    near(call("mxfp4_experts", x, (rows, chosen, out)), want, bound)

    shared = x[:, :1]
    want, terms = product(shared)
    bound = UNIT[dtype] * want.abs() + 2 * width * summing(dtype) * terms
    near(call("mxfp4_experts_shared", shared, (rows, chosen, out)), want, bound)
    near(call("mxfp4_linear_experts_shared", shared[:, 0], (rows, chosen, out)), want, bound)

    share = tensor(weights)[..., None]
    each, terms = product(x)
    want, terms = (each * share).sum(1), (terms * share).sum(1)
    # Each product rounds, then their sum; and so do the terms of both sums.
    bound = 1.01 * UNIT[dtype] * ((each.abs() * share).sum(1) + want.abs())
    bound += 2 * (width + chosen) * summing(dtype) * terms
    got = call("mxfp4_combine_experts", x, (rows, out), weights=weights)
    near(got, want, bound)
