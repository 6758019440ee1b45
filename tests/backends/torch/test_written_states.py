"""States in generated source: a write into a cache overwrites it only where nobody sees what it
was, and no state shares memory with anything else. NumPy is the reference."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from linnet.backends.torch.emit.module import Selecting
from linnet.backends.torch.generated import Generated
from linnet.backends.torch.kernels import KERNELS
from linnet.ir.core import Module
from tests.backends import each, written
from tests.lower.lowering import equal, source

PROGRAM = """use std.nn.cache::{{write_at}}
fn same(x: Tensor[1, 1, 4, 2; f32]) -> Tensor[1, 1, 4, 2; f32] {{ return x }}
block Other {{
    state o: Tensor[1, 1, 4, 2; f32]
    pub fn push(v: Tensor[1, 1, 1, 2; f32], at: i32) -> Tensor[1, 1, 4, 2; f32] {{
        o = write_at(o, v, at)
        return o * 2.0
    }}
    pub fn look() -> Tensor[1, 1, 4, 2; f32] {{ return o }}
    pub fn keep(x: Tensor[1, 1, 4, 2; f32], at: i32) -> Tensor[1, 1, 4, 2; f32] {{
        o = write_at(o, x[:, :, 0:1, :], at)
        return x + o
    }}
}}
block Model {{
    state k: Tensor[1, 1, 4, 2; f32]
    state m: Tensor[1, 1, 4, 2; f32]
    param w: Tensor[1, 1, 4, 2; f32]
    sub other: Other
    sub twins: [Other; 2]
    pub entry f(
        v: Tensor[1, 1, 1, 2; f32], x: Tensor[1, 1, 4, 2; f32], at: i32
    ) -> (Tensor[1, 1, 4, 2; f32], Tensor[1, 1, 4, 2; f32]) {{
        {body}
    }}
}}
"""
K = np.arange(8, dtype=np.float32).reshape(1, 1, 4, 2)
V = np.asarray([[[[50.0, 60.0]]]], np.float32)
CALLS = [(V, K + 100, np.int32(2)), (V * 3, K + 200, np.int32(1)), (V * 5, K, np.int32(9))]
WEIGHTS = {"w": K - 50}
STATES = {"k": K, "m": K * 10, "other.o": K * 7, "twins.0.o": K * 5, "twins.1.o": K * 3}

CASES = {
    "stored": "k = write_at(k, v, at)\nreturn (k * 2.0, k)",
    "not stored": "let n = write_at(k, v, at)\nreturn (n, k * 1.0)",
    "stored elsewhere": "m = write_at(k, v, at)\nreturn (m + 0.0, k * 1.0)",
    "old between": "let n = write_at(k, v, at)\nlet y = k * 2.0\nk = n\nreturn (y, k * 1.0)",
    "old stored": "let n = write_at(k, v, at)\nm = k * 3.0\nk = n\nreturn (m * 1.0, k * 1.0)",
    "old before": "let y = k + 1.0\nk = write_at(k, v, at)\nreturn (y, k * 1.0)",
    "a view": "let y = k[:, :, 0:4, :]\nk = write_at(k, v, at)\nreturn (y + 0.0, k * 1.0)",
    "by a function": "let y = same(k)\nk = write_at(k, v, at)\nreturn (y + 0.0, k * 1.0)",
    "given out": "let y = same(k)\nk = write_at(k, v, at)\nreturn (y, k)",
    "of two states": "m = k\nk = write_at(k, v, at)\nreturn (m * 1.0, k * 1.0)",
    "of a parameter": "k = w\nk = write_at(k, v, at)\nreturn (k * 1.0, w * 1.0)",
    "of an argument": "k = x\nk = write_at(k, v, at)\nreturn (k * 1.0, x * 1.0)",
    "of one": "k = fill([1, 1, 4, 2], v[0, 0, 0, 0])\nk = write_at(k, v, at)\nreturn (k, x)",
    "of one value": "let y = x * 2.0\nk = y\nm = y\nk = write_at(k, v, at)\nreturn (m * 1.0, y)",
    "twice": "k = write_at(write_at(k, v, at), v * 2.0, at + 1)\nreturn (k * 1.0, x)",
    "twice, seen": "let a = write_at(k, v, at)\nk = write_at(a, v * 2.0, at + 1)\nreturn (k, a)",
    "of itself": "k = write_at(k, k[:, :, 0:1, :], at)\nreturn (k * 1.0, x)",
    "swapped": "let a = k\nk = m\nm = a\nk = write_at(k, v, at)\nreturn (k * 1.0, m * 1.0)",
    "seen below": "let a = other.look()\nlet b = other.push(v, at)\nreturn (a, b)",
    "given below": "let b = other.keep(other.look(), at)\nreturn (b, other.look())",
    "of another block": "let b = other.keep(k, at)\nreturn (b, other.look())",
    "in one expression": "return (k + other.push(v, at) + other.look(), other.push(v, at) + k)",
    "every element": "var h = x\nstatic for t in twins { h = t.keep(h, at) }\nreturn (h, k * 1.0)",
    "in a loop": (
        "var a = x\nstatic for i in 0..3 { let old = k\nk = write_at(k, v, cast<i32>(i))\n"
        "a = a + old }\nreturn (a, k)"
    ),
    "carried": (
        "var last = k\nvar a = x\nstatic for i in 0..3 { a = a + last\nlast = k\n"
        "k = write_at(k, v * cast<f32>(i), cast<i32>(i)) }\nreturn (a, last)"
    ),
    "chosen": "let y = if at > 1 { k } else { x }\nk = write_at(k, v, at)\nreturn (y, k * 1.0)",
    "of its name": "var a = x * 2.0\nlet q = a\na = k\nlet b = other.keep(q, at)\nreturn (a, b)",
    "of a name that is free": "var a = x * 2.0\nlet q = a\na = k\nk = q\nreturn (a, k * 1.0)",
    "a function of itself": "k = k % x\nreturn (k * 1.0, x)",
}


def made(folder: Path, body: str) -> Module:
    return source(folder, PROGRAM.format(body=body)).entry("Model", "f")


@pytest.mark.parametrize("case", CASES)
def test_means_what_the_reference_does(case: str, tmp_path: Path) -> None:
    module = made(tmp_path, CASES[case])
    held = [dict(STATES), dict(STATES)]
    weights = {path: x.copy() for path, x in WEIGHTS.items()}
    for arguments in CALLS:
        before = [np.copy(x) for x in arguments]
        found = [
            each.run(backend, module, arguments, state=state, weights=weights)
            for backend, state in zip(("numpy", "torch-source"), held, strict=True)
        ]
        equal(*found)
        equal([held[1][p] for p in STATES], [held[0][p] for p in STATES])
        equal(list(map(np.asarray, arguments)), before)
        equal([weights["w"]], [WEIGHTS["w"]])


@pytest.mark.parametrize(
    ("case", "in_place"),
    [
        ("stored", False),  # the entry gives the state itself
        ("twice", False),
        ("of itself", False),
        ("old before", True),
        ("of a parameter", True),
        ("not stored", False),
        ("old between", False),
        ("a view", False),
    ],
)
def test_overwrites_where_it_may(case: str, in_place: bool, tmp_path: Path) -> None:
    module = made(tmp_path, CASES[case])
    sources = written.sources_of(module)
    how = Selecting(KERNELS, "exact", "cpu")
    text = Generated("m", (module.entry,), sources, how).source()
    assert bool(re.search(r"^ +overwrite_span\(self\.k, ", text, re.MULTILINE)) == in_place
    assert ("overwrite_span(self.k.clone(), " in text) == (not in_place) or case == "twice"
