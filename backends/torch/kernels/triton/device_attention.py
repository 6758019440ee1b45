# pyright: basic, reportArgumentType=false, reportAssignmentType=false, reportGeneralTypeIssues=false
# Triton compiles this: what looks like a type is a stage, and a number fits it.
"""Attention of few queries over many keys: the keys in splits, each with a softmax of its own,
which a second kernel joins with the sink.

A program has the rows (query heads of one key/value head, times queries) that read one key/value
head, so keys and values are read once for all of them. Blocks of keys that none of its rows sees
are not read.
"""

from __future__ import annotations

import triton
import triton.language as tl

from linnet.backends.torch.kernels.triton.device_mxfp4 import rounded, widened


@triton.jit
def load_wide(pointers, mask):
    """In f32, zeros where `mask` is not."""
    return widened(tl.load(pointers, mask=mask, other=0.0))


@triton.jit
def softmax_step(q, k, v, seen, unseen, factor, peak, total, acc):
    """`peak`, `total` and `acc` of the keys so far, with those of a block `k` and `v` that are
    `seen`; `unseen` is the greatest score of the others."""
    scores = tl.dot(q, tl.trans(k), input_precision="ieee") * factor
    scores = tl.where(seen != 0, scores, -3e38)
    highest = tl.maximum(tl.maximum(peak, unseen), tl.max(scores, 1))
    weights = tl.where(seen != 0, tl.exp(scores - highest[:, None]), 0.0)
    kept = tl.exp(peak - highest)
    total = total * kept + tl.sum(weights, 1)
    acc = tl.dot(weights, v, acc * kept[:, None], input_precision="ieee")
    return highest, total, acc


@triton.jit
def splits_kernel(
    query,
    key,
    value,
    mask,
    scale,
    peaks,
    totals,
    mixed,
    Hk,
    Q,
    K,
    D,
    rows,
    span,
    query_b,
    query_h,
    query_q,
    query_d,
    key_b,
    key_h,
    key_k,
    key_d,
    value_b,
    value_h,
    value_k,
    value_d,
    mask_b,
    mask_q,
    mask_k,
    LOADED: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BD: tl.constexpr,
):
    """`query [B, Hq, Q, D]`, `key` and `value` `[B, Hk, K, D]`, `mask [B, Q, K; u8]`, by strides.
    `peaks` and `totals` are `[B, Hk, splits, rows; f32]`, `mixed [B, Hk, splits, rows, D; f32]`,
    where `rows` is `Hq / Hk * Q`, the query fastest. Programs: heads `B * Hk`, splits of `span`
    keys, tiles of `BM` rows. `scale` is a pointer where `LOADED`.
    """
    head = tl.program_id(0)
    split = tl.program_id(1)
    b = (head // Hk).to(tl.int64)
    h = (head % Hk).to(tl.int64)
    m = tl.program_id(2) * BM + tl.arange(0, BM)
    d = tl.arange(0, BD)
    group = (rows // Q) * h + m // Q
    at = query + b * query_b + group[:, None] * query_h + (m % Q)[:, None] * query_q
    q = load_wide(at + d[None, :] * query_d, (m < rows)[:, None] & (d < D)[None, :])
    factor = tl.load(scale) if LOADED else scale
    peak = tl.full([BM], -3e38, tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, BD], tl.float32)
    last = tl.minimum(split * span + span, K)
    for start in range(split * span, last, BN):
        n = (start + tl.arange(0, BN)).to(tl.int64)
        there = (m < rows)[:, None] & (n < last)[None, :]
        seen = tl.load(
            mask + b * mask_b + (m % Q)[:, None] * mask_q + n[None, :] * mask_k,
            mask=there,
            other=0,
        )
        # A key that is there and not seen counts in the maximum, as in the op's body.
        unseen = tl.max(tl.where(there & (seen == 0), -1e30, -3e38), 1)
        if tl.max(tl.max(seen, 1), 0) != 0:
            inside = (n < last)[:, None] & (d < D)[None, :]
            keys = key + b * key_b + h * key_h + n[:, None] * key_k
            k = load_wide(keys + d[None, :] * key_d, inside)
            values = value + b * value_b + h * value_h + n[:, None] * value_k
            v = load_wide(values + d[None, :] * value_d, inside)
            peak, total, acc = softmax_step(q, k, v, seen, unseen, factor, peak, total, acc)
        else:
            highest = tl.maximum(peak, unseen)
            kept = tl.exp(peak - highest)
            total = total * kept
            acc = acc * kept[:, None]
            peak = highest
    place = (head.to(tl.int64) * tl.num_programs(1) + split) * rows + m
    tl.store(peaks + place, peak, mask=m < rows)
    tl.store(totals + place, total, mask=m < rows)
    tl.store(
        mixed + place[:, None] * D + d[None, :],
        acc,
        mask=(m < rows)[:, None] & (d < D)[None, :],
    )


@triton.jit
def join_kernel(
    peaks,
    totals,
    mixed,
    sinks,
    out,
    Hk,
    Q,
    D,
    rows,
    splits,
    BS: tl.constexpr,
    BD: tl.constexpr,
):
    """What `splits_kernel` gives and `sinks [Hq; T]` to `out [B, Hq, Q, D; T]`. Programs: heads
    `B * Hk`, rows. `BS` is a power of two, at least `splits`."""
    head = tl.program_id(0).to(tl.int64)
    m = tl.program_id(1)
    s = tl.arange(0, BS)
    d = tl.arange(0, BD)
    place = (head * splits + s) * rows + m
    sink = widened(tl.load(sinks + (head % Hk) * (rows // Q) + m // Q))
    each = tl.load(peaks + place, mask=s < splits, other=-3e38)
    peak = tl.maximum(tl.max(each, 0), sink, propagate_nan=tl.PropagateNan.ALL)
    kept = tl.where(s < splits, tl.exp(each - peak), 0.0)
    total = tl.sum(tl.load(totals + place, mask=s < splits, other=0.0) * kept, 0)
    acc = tl.load(
        mixed + place[:, None] * D + d[None, :],
        mask=(s < splits)[:, None] & (d < D)[None, :],
        other=0.0,
    )
    # At least one where anything is seen: below that the weights, and so the result, are zero.
    total = tl.maximum(total + tl.exp(sink - peak), 1.0, propagate_nan=tl.PropagateNan.ALL)
    result = tl.div_rn(tl.sum(acc * kept[:, None], 0), total)
    tl.store(out + (head * rows + m) * D + d, rounded(result, out.dtype.element_ty), mask=d < D)
