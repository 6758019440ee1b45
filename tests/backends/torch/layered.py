"""A small model of layers that keep what they have seen, and how tests load it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linnet import nest

SOURCE = """\
module layered

use std.nn.cache::{write_span}
use std.nn.linear::{Linear}

pub block Layer<H: Dim, MaxSeq: Dim, T: Float>
where
    MaxSeq > 0
{
    sub mix: Linear<H, H, T>
    state kept: Tensor[1, 1, MaxSeq, H; T]

    pub fn span<S: Dim>(x: Tensor[S, H; T], at: i32) -> Tensor[S, H; T] {
        kept = write_span(kept, reshape(x, [1, 1, S, H]), at)
        let last = iota<i32>(S) + at
        let place = iota<i32>(MaxSeq)
        let share[s, k] = select(place[k] <= last[s], 1.0 / cast<f32>(last[s] + 1), 0.0)
        let seen[s, h] = sum[k] cast<T>(share[s, k]) * kept[0, 0, k, h]
        return x + tanh(mix.forward(seen))
    }
}

pub block Model<Vocab: Dim, H: Dim, Layers: Dim, MaxSeq: Dim, T: Float = f32>
where
    MaxSeq > 0
{
    param table: Tensor[Vocab, H; T]
    sub layers: [Layer<H, MaxSeq, T>; Layers]
    sub head: Linear<H, Vocab, T>
    state calls: i32

    /// What may follow the next `S` tokens, of which the first has position `pos`.
    pub entry prefill<S: Dim>(tokens: Tensor[S; i32], pos: i32) -> Tensor[Vocab; T]
    where S > 0 {
        let rows[s, h] = table[tokens[s], h]
        var x = rows
        static for layer in layers {
            x = layer.span(x, pos)
        }
        return head.forward(x[S - 1, :])
    }

    /// What may follow one token more.
    pub entry decode(token: Tensor[1; i32], pos: i32) -> Tensor[Vocab; T] {
        let row[s, h] = table[token[s], h]
        var x = row
        static for layer in layers {
            x = layer.span(x, pos)
        }
        return head.forward(x[0, :])
    }

    /// What a token is at the start.
    pub entry row(token: i32) -> Tensor[H; T] {
        return table[token, :]
    }

    /// How often it has been called, which replaces a state.
    pub entry count() -> i32 {
        calls = calls + 1
        return calls
    }
}
"""
TOML = """\
[model]
name = "layered"
title = "Layered"
summary = "A card for tests."
license = "MIT"
family = "layered"
tags = ["test"]
parameters = 1536

[links]
huggingface = "https://huggingface.co/a/layered"

[source]
path = "src/lib.linnet"
root = "Model"
entry = "prefill"

[generics]
Vocab = 32
H = 16
Layers = 2
MaxSeq = 96
T = "f32"

[tiny]
Vocab = 8

[weights]
repo = "a/layered"
revision = "0123456789abcdef0123456789abcdef01234567"
files = ["model.safetensors"]
"""


def write_card(parent: Path) -> Path:
    """The card's folder."""
    folder = parent / "layered"
    (folder / "src").mkdir(parents=True)
    (folder / "nest.toml").write_text(TOML)
    (folder / "src" / "lib.linnet").write_text(SOURCE)
    (folder / "linnet.toml").write_text(
        '[package]\nname = "layered"\nversion = "0.1.0"\nlanguage = "0.1"\n'
    )
    return folder


def load(card: Path, compile: Any, **named: Any) -> Any:
    """The model with random weights, `Layers` and the like by their names in `generics`."""
    return nest.load(card, compile=compile, weights="random", progress=False, **named)
