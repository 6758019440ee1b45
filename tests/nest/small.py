"""A small card with every kind of entry, its checkpoint, and how tests load it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from linnet import nest
from linnet.nest import Model
from linnet.source.errors import LinnetError

SOURCE = """\
module small

pub block Layer<H: Dim, T: Float> {
    param scale: Tensor[H; T]
    param shift: Tensor[H; T]? = none

    pub fn forward<S: Dim>(x: Tensor[S, H; T]) -> Tensor[S, H; T] {
        let scaled[s, h] = x[s, h] * scale[h]
        return match shift {
            some(b) => scaled + b
            none => scaled
        }
    }
}

pub block Model<Vocab: Dim, H: Dim, Layers: Dim, T: Float = f32>
where
    H > 0,
    H % 2 == 0
{
    param table: Tensor[Vocab, H; T]
    sub layers: [Layer<H, T>; Layers]
    state seen: Tensor[H; T]

    /// Rows of the table through the layers.
    pub entry forward<S: Dim>(tokens: Tensor[S; i32]) -> Tensor[S, H; T] {
        let rows[s, h] = table[cast<i64>(tokens[s]), h]
        var x = rows
        static for layer in layers {
            x = layer.forward(x)
        }
        return x
    }

    pub entry remember(x: Tensor[H; T]) -> Tensor[H; T] {
        seen = seen + x
        return seen
    }

    pub entry keep(x: Tensor[H; T]) -> Tensor[H; T] {
        seen = x
        return seen
    }

    pub entry put(x: Tensor[H; T], at: i32) -> T {
        seen = x
        return seen[cast<i64>(at)]
    }

    pub entry grid<B: Dim, S: Dim>(
        tokens: Tensor[B, S; i32],
        lengths: Tensor[B; i32],
        factor: i32 = 2,
    ) -> Tensor[B, S; i32]
    where
        S > 1,
        B <= S
    {
        let y[b, s] = tokens[b, s] * factor + lengths[b]
        return y
    }

    pub entry tail<P: Dim>(x: Tensor[P + H; T]) -> (Tensor[P; T], T) {
        return (x[0:P], x[P])
    }

    pub entry shifted<N: Dim>(
        x: Tensor[N; T],
        by: Tensor[N; T]? = none,
        flags: Tensor[N; bool]? = none,
    ) -> Tensor[N; T] {
        let moved = match by {
            some(b) => x + b
            none => x
        }
        return match flags {
            some(f) => select(f, moved, x)
            none => moved
        }
    }
}
"""

TOML = """\
[model]
name = "small"
title = "Small"
summary = "A card for tests."
license = "MIT"
family = "small"
tags = ["test"]
parameters = 16

[links]
huggingface = "https://huggingface.co/a/small"

[source]
path = "src/lib.linnet"
root = "Model"
entry = "forward"

[generics]
Vocab = 4
H = 2
Layers = 2
T = "f32"

[check]
S = 8

[weights]
repo = "a/small"
revision = "0123456789abcdef0123456789abcdef01234567"
files = ["one.safetensors", "two.safetensors"]
bindings = "bindings.json"
"""

BINDINGS = {
    "table": "t",
    "layers.0.scale": "l0.s",
    "layers.0.shift": "l0.b",
    "layers.1.scale": "l1.s",
    "layers.1.shift": "l1.b",
}
ONE = {"t": np.arange(8, dtype=np.float32).reshape(4, 2), "l0.s": np.asarray([2, 3], np.float32)}
TWO = {
    "l0.b": np.asarray([1, 1], np.float32),
    "l1.s": np.asarray([1, 10], np.float32),
    "l1.b": np.asarray([0, 5], np.float32),
}


def write_card(
    parent: Path, *edits: tuple[str, str], bindings: dict[str, Any] | None = None
) -> Path:
    """The card's folder; `edits` are (old, new) in its toml or its source, whichever has it."""
    folder = parent / "small"
    (folder / "src").mkdir(parents=True)
    texts = {"nest.toml": TOML, "src/lib.linnet": SOURCE}
    for old, new in edits:
        (name,) = (n for n, text in texts.items() if old in text)
        texts[name] = texts[name].replace(old, new)
    for name, text in texts.items():
        (folder / name).write_text(text)
    manifest = '[package]\nname = "small"\nversion = "0.1.0"\nlanguage = "0.1"\n'
    (folder / "linnet.toml").write_text(manifest)
    (folder / "bindings.json").write_text(json.dumps(BINDINGS if bindings is None else bindings))
    return folder


def write_weights(parent: Path, one: Any = ONE, two: Any = TWO) -> Path:
    """The folder of the checkpoint's two files."""
    folder = parent / "weights"
    folder.mkdir()
    save_file(one, folder / "one.safetensors")
    save_file(two, folder / "two.safetensors")
    return folder


def load(card: Path, **options: Any) -> Model:
    return nest.load(card, "numpy", **{"weights": "random", **options})


def refused(code: str, call: Callable[..., Any], *args: Any, **named: Any) -> str:
    """The text of the `LinnetError` that the call raises, every finding of it with `code`."""
    with pytest.raises(LinnetError) as caught:
        call(*args, **named)
    assert {d.code for d in caught.value.diagnostics} == {code}, str(caught.value)
    return str(caught.value)


def line_of(text: str) -> str:
    """`src/lib.linnet:` and the number of the one line that has the text."""
    (number,) = (n for n, line in enumerate(SOURCE.splitlines(), 1) if text in line)
    return f"src/lib.linnet:{number}"
