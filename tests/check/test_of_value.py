"""Methods and fields of tensors, of which there are none: the help says what to write, and that
passes the checker."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.source.diagnostics import Diagnostic

HEAD = "module m\n\nuse std.nn.softmax::{softmax}\n\n"


def findings(folder: Path, statement: str) -> list[Diagnostic]:
    path = folder / "m.linnet"
    path.write_text(
        f"{HEAD}pub fn f<B: Dim, S: Dim, H: Dim>(x: Tensor[B, S, H; f32]) -> Tensor[B, S, H; f32]\n"
        f"where H > 0, S > 0, B > 0 {{\n    {statement}\n    return softmax(x)\n}}\n"
    )
    return [f for f in check_paths([path]).sink if f.severity == "error"]


WRITTEN = [
    ("x.view(B, S * H)", "reshape(x, [B, S * H])"),
    ("x.reshape([B * S, H])", "reshape(x, [B * S, H])"),
    ("x.sum(-1)", "let y[b, s] = sum[h] x[b, s, h]"),
    ("x.sum(dim = 0)", "let y[s, h] = sum[b] x[b, s, h]"),
    ("x.sum()", "sum[b, s, h] x[b, s, h]"),
    ("x.mean()", "(sum[b, s, h] x[b, s, h]) / (B * S * H)"),
    ("x.mean(1)", "let y[b, h] = (sum[s] x[b, s, h]) / S"),
    ("x.amax(-1)", "let y[b, s] = max[h] x[b, s, h]"),
    ("x.to(f32)", "cast<f32>(x)"),
    ("x.to(torch.float32)", "cast<f32>(x)"),
    ("x.transpose(1, 2)", "permute(x, [0, 2, 1])"),
    ("x.transpose(-1, 0)", "permute(x, [2, 1, 0])"),
    ("x.permute(0, -1, 1)", "permute(x, [0, 2, 1])"),
    ("x.permute((2, 0, 1))", "permute(x, [2, 0, 1])"),
    ("x.unsqueeze(0)", "reshape(x, [1, B, S, H])"),
    ("x.unsqueeze(-1)", "reshape(x, [B, S, H, 1])"),
    ("x.expand(B, S, H)", "broadcast_to(x, [B, S, H])"),
    ("x.size(0)", "B"),
    ("x.exp()", "exp(x)"),
]


@pytest.mark.parametrize(("habit", "written"), WRITTEN, ids=[h for h, _ in WRITTEN])
def test_a_method(tmp_path: Path, habit: str, written: str) -> None:
    (finding,) = findings(tmp_path, f"let y = {habit}")
    assert finding.code == "E2106"
    assert finding.span is not None and finding.span.text == habit.partition("(")[0]
    assert finding.help == f"write `{written}`"
    statement = written if written.startswith("let") else f"let y = {written}"
    assert findings(tmp_path, statement) == []


SAID = [
    ("x.float()", "`cast<f32>(x)` converts"),
    ("x.bfloat16()", "`cast<bf16>(x)` converts"),
    ("x.view(B, -1)", "`reshape(x, [A, B])` changes the shape"),
    ("x.squeeze(0)", "`reshape(x, [A, B])` drops an axis of extent 1"),
    ("x.size()", "extents are part of the type: use the generics that name them"),
    ("x.contiguous()", "write `x`: values never change"),
    ("x.masked_fill(x > 0.0, 0.0)", "`select(c, a, x)` chooses element by element"),
    ("x.softmax(-1)", "functions take it as an argument: `softmax(x, ...)`"),
    ("x.relu()", "`use std.nn.activations::{relu}`, and write `relu(x, ...)`"),
    ("x.frobnicate(True)", "functions take it as an argument, as in `exp(x)`"),
    ("x.view(B, S * H).sum(-1).to(nothing)", "write `reshape(x, [B, S * H])`"),
]


@pytest.mark.parametrize(("habit", "said"), SAID, ids=[h for h, _ in SAID])
def test_what_is_said_of_others(tmp_path: Path, habit: str, said: str) -> None:
    (finding,) = findings(tmp_path, f"let y = {habit}")
    assert (finding.code, finding.help) == ("E2106", said)


@pytest.mark.parametrize(
    ("habit", "said"),
    [
        ("x.T", "write `permute(x, [2, 1, 0])`"),
        ("x.mT", "write `permute(x, [0, 2, 1])`"),
        ("x.shape[0]", "extents are part of the type: use the generics that name them"),
        ("x.dtype", "the dtype is part of the type, and no value"),
        ("x.ndim", "the number of axes is part of the type"),
    ],
)
def test_a_field(tmp_path: Path, habit: str, said: str) -> None:
    (finding,) = findings(tmp_path, f"let y = {habit}")
    assert (finding.code, finding.help) == ("E2107", said)
    assert finding.span is not None and finding.span.text == re.split(r"[.\[]", habit)[1]


def test_a_reserved_word_is_one_finding(tmp_path: Path) -> None:
    assert [f.code for f in findings(tmp_path, "let y = x.device")] == ["E1004"]


def test_the_index_of_a_sum_is_a_new_name(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, "let h = x[0, 0, 0]\n    let y = x.sum(-1)")
    assert finding.help == "write `let y[i, j] = sum[k] x[i, j, k]`"
