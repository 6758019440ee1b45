"""One change that breaks the seed card's source is one error, at the place that is wrong.

Each row: the file, the text to replace (its n-th occurrence), what replaces it, the code and the
text that the error's primary span covers
(its beginning, if it ends in `...`).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.source.render import render_text

SEED = Path(__file__).parents[2] / ".." / "shared" / "seed" / "gpt-oss-20b" / "src"

# (file, old, occurrence, new, code, text of the primary span)
CHANGES: list[tuple[str, str, int, str, str, str]] = [
    (
        "experts",
        "gate_up_blocks: Tensor[Experts, 2 * Inner, Blocks, 16; u8]",
        0,
        "gate_up_blocks: Tensor[Experts, Inner, Blocks, 16; u8]",
        "E2202",
        "gate_up_blocks",
    ),
    (
        "experts",
        "gate_up_scales: Tensor[Experts, 2 * Inner, Blocks; u8]",
        0,
        "gate_up_scales: Tensor[Experts, 2 * Inner, Blocks; i8]",
        "E2103",
        "gate_up_scales",
    ),
    (
        "experts",
        "down_blocks: Tensor[Experts, H, InnerBlocks, 16; u8]",
        0,
        "down_blocks: Tensor[Experts, H, InnerBlocks, 32; u8]",
        "E2202",
        "down_blocks",
    ),
    (
        "experts",
        "down_bias: Tensor[Experts, H; T]",
        0,
        "down_bias: Tensor[Experts, Inner; T]",
        "E2207",
        "+",
    ),
    (
        "experts",
        "sub router: Linear<H, Experts, T>",
        0,
        "sub router: Linear<H, TopK, T>",
        "E2202",
        "router.forward(x)",
    ),
    (
        "attention",
        "param sinks: Tensor[Heads; T]",
        0,
        "param sinks: Tensor[KvHeads; T]",
        "E2202",
        "sinks",
    ),
    (
        "attention",
        "state cache_v: Tensor[Batch, KvHeads, MaxSeq, HeadDim; T]",
        0,
        "state cache_v: Tensor[Batch, Heads, MaxSeq, HeadDim; T]",
        "E2202",
        "v",
    ),
    (
        "attention",
        "sub k_proj: Linear<H, KvHeads * HeadDim, T>",
        0,
        "sub k_proj: Linear<H, Heads * HeadDim, T>",
        "E2202",
        "k_proj.forward(x)",
    ),
    (
        "attention",
        "sub o_proj: Linear<Heads * HeadDim, H, T>",
        0,
        "sub o_proj: Linear<H, H, T>",
        "E2202",
        "merge_heads<...",
    ),
    ("lib", "sub norm: RmsNorm<H, T>", 0, "sub norm: RmsNorm<H, f32>", "E2103", "hidden(tokens)"),
    (
        "lib",
        "sub lm_head: Linear<H, Vocab, T>",
        0,
        "sub lm_head: Linear<Vocab, H, T>",
        "E2202",
        "norm.forward(hidden(tokens))",
    ),
    (
        "lib",
        "sub embed_tokens: Embedding<Vocab, H, T>",
        0,
        "sub embed_tokens: Embedding<H, Vocab, T>",
        "E2202",
        "x",
    ),
    ("lib", "H % 32 == 0,\n", 0, "", "E2206", "LayerPair<..."),
    ("lib", "Inner % 32 == 0,\n", 0, "", "E2206", "LayerPair<..."),
    ("lib", "Heads % KvHeads == 0,\n", 2, "", "E2206", "LayerPair<..."),
    ("lib", "HeadDim % 2 == 0,\n", 2, "", "E2206", "LayerPair<..."),
    (
        "attention",
        "Heads % KvHeads == 0,\n",
        0,
        "",
        "E2206",
        "sink_attention(\nq,\nk,\nv,\nsinks...",
    ),
    ("rope", "where D % 2 == 0 {", 0, "{", "E2202", "cast<T>(cos(full) * attention_factor)"),
    ("lib", "HeadDim % 2 == 0,\n", 0, "HeadDim % 4 == 0,\n", "E2206", "DecoderLayer<..."),
    ("lib", "TopK > 0,\n", 0, "TopK > 1,\n", "E2206", "DecoderLayer<..."),
    ("experts", "H == Blocks * 32,\n", 0, "", "E2203", "[Experts * 2 * Inner, H]"),
    (
        "rope",
        "cast<T>(sin(full) * attention_factor)",
        0,
        "cast<T>(permute(sin(full), [1, 0]) * attention_factor)",
        "E2202",
        "cast<...",
    ),
    (
        "experts",
        "dequantize_mxfp4<Experts, 2 * Inner, Blocks, T>",
        0,
        "dequantize_mxfp4<Experts, Inner, Blocks, T>",
        "E2202",
        "gate_up_blocks",
    ),
    (
        "experts",
        "mxfp4_experts<B, TopK, Experts, H, InnerBlocks, T>",
        0,
        "mxfp4_experts<B, TopK, Experts, H, Blocks, T>",
        "E2202",
        "weighted",
    ),
    (
        "experts",
        "some(reshape(gate_up_bias, [Experts * 2 * Inner])),",
        0,
        "reshape(gate_up_bias, [Experts * 2 * Inner]),",
        "E2101",
        "reshape(gate_up_bias, [Experts...",
    ),
    (
        "experts",
        "reshape(gate_up_weight, [Experts * 2 * Inner, H])",
        0,
        "reshape(gate_up_weight, [Experts * Inner, H])",
        "E2203",
        "[Experts * Inner, H]",
    ),
    (
        "experts",
        "permute(down_weight, [1, 0, 2])",
        0,
        "permute(down_weight, [1, 0, 1])",
        "E2210",
        "[1, 0, 1]",
    ),
    ("experts", "permute(down_bias, [1, 0])", 0, "down_bias", "E2202", "down_bias"),
    ("experts", "gate_up[..., 0::2]", 0, "gate_up[..., 0::3]", "E2207", "*"),
    (
        "experts",
        "min(max(gate_up[..., 1::2], cast<T>(-LIMIT)), cast<T>(LIMIT))",
        0,
        "min(max(gate_up[..., 1::2], -LIMIT), cast<T>(LIMIT))",
        "E2103",
        "max(gate_up[..., 1::2], -LIMIT)",
    ),
    (
        "experts",
        "cast<T>(mixed) + down_bias_of<B>(weight, expert)",
        0,
        "mixed + down_bias_of<B>(weight, expert)",
        "E2103",
        "+",
    ),
    (
        "attention",
        "rsqrt(cast<f32>(HeadDim))",
        0,
        "rsqrt(cast<T>(HeadDim))",
        "E2103",
        "rsqrt(cast<T>(HeadDim))",
    ),
    ("attention", "write_at(cache_k, k, pos)", 0, "write_at(cache_k, q, pos)", "E2202", "q"),
    (
        "attention",
        "cache_v = write_span(cache_v, v, pos)",
        0,
        "cache_v = write_at(cache_v, v, pos)",
        "E2202",
        "v",
    ),
    ("attention", "cache_k = write_rows(cache_k, k, positions)", 0, "cache_k = k", "E2109", "k"),
    ("attention", "q[:, :, 0:P, :]", 0, "q[:, :, 0:P + Batch + 1, :]", "E2209", "0:P + Batch + 1"),
    ("attention", "permute(steps, [2, 1, 0, 3])", 0, "steps", "E2202", "steps"),
    (
        "attention",
        "reshape(cos_at, [1, HeadDim])",
        0,
        "reshape(cos_at, [1, MaxSeq])",
        "E2203",
        "[1, MaxSeq]",
    ),
    (
        "experts",
        "activated[b, s, e, i] * scores[b, s, e]",
        0,
        "activated[b, s, e, i] * scores[b, e, s]",
        "E2201",
        "e",
    ),
    (
        "experts",
        "sum[k] weight[r, k] * taken[r, k, h]",
        0,
        "weight[r, k] * taken[r, k, h]",
        "E3101",
        "k",
    ),
    (
        "experts",
        "sum<f32>[k] cast<f32>(down[b, k, h])",
        0,
        "sum<f32>[k] down[b, k, h]",
        "E2103",
        "down[b, k, h]",
    ),
    (
        "experts",
        "sum[k] weight[r, k] * taken[r, k, h]",
        0,
        "sum[k, k] weight[r, k] * taken[r, k, h]",
        "E3105",
        "k",
    ),
    ("experts", "let outranks[b, s, e, j] =", 0, "let outranks[b, s, e, j, i] =", "E3103", "i"),
    (
        "experts",
        "scores[r, 0, e], cast<T>(0.0))",
        0,
        "scores[r, 1, e], cast<T>(0.0))",
        "E2209",
        "1",
    ),
    (
        "experts",
        "gate_up_bias[expert[r, k], o]",
        0,
        "gate_up_bias[expert[r, k]]",
        "E2204",
        "gate_up_bias[expert[r, k]]",
    ),
    ("rope", "* inv_freq[i]", 0, "* inv_freq[s]", "E2201", "s"),
    (
        "lib",
        "x[b, cast<i64>(lengths[b]) - 1, h]",
        0,
        "x[b, lengths[b] - cast<i64>(1), h]",
        "E2103",
        "-",
    ),
    (
        "attention",
        "keys[k] <= queries[q] + offset",
        0,
        "keys[q] <= queries[q] + offset",
        "E2201",
        "q",
    ),
    ("lib", "return hidden(tokens)", 0, "return hiden(tokens)", "E1201", "hiden"),
    ("lib", "hidden(tokens)[:, S - 1, :]", 0, "hidden(tokens)[:, S, :]", "E2209", "S"),
    ("lib", "x[0, P:P + Batch, :]", 0, "x[0, P:2 * P, :]", "E2209", "P:2 * P"),
    ("lib", "x = pair.decode(x, pos)", 0, "x = pair.decode(x)", "E2102", "pair.decode(x)"),
    ("lib", "static for pair in pairs {", 0, "static for pair in norm {", "E2121", "norm"),
    (
        "rope",
        "concat(angles, angles, axis = -1)",
        0,
        "concat(angles, angles, axis = 2)",
        "E2210",
        "2",
    ),
    ("rope", "iota<i64>(D / 2)", 0, "iota<i64>(D / S)", "E2205", "S"),
]


def apply(file: str, old: str, occurrence: int, new: str) -> dict[Path, str]:
    path = (SEED / f"{file}.linnet").resolve()
    text = path.read_text()
    at = -1
    for _ in range(occurrence + 1):
        at = text.index(old, at + 1)
    return {path: text[:at] + new + text[at + len(old) :]}


@pytest.mark.skipif(not SEED.is_dir(), reason="the shared folder is not here")
@pytest.mark.parametrize("change", CHANGES, ids=lambda c: f"{c[0]}: {c[1]} -> {c[3]}"[:70])
def test_one_error_at_the_place_that_is_wrong(change: tuple[str, str, int, str, str, str]) -> None:
    file, old, occurrence, new, code, place = change
    result = check_paths([SEED.parent], apply(file, old, occurrence, new))
    found = [(d.code, d.span.text if d.span else "") for d in result.sink]
    report = "\n".join(render_text(d) for d in result.sink)
    assert [c for c, _ in found] == [code], report
    text = found[0][1]
    assert text.startswith(place[:-3]) if place.endswith("...") else text == place, report
