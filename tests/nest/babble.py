"""A small card that makes text: each token has one that follows it, in a table of weights."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from linnet import nest
from linnet.nest import Model
from tests.generate.scripted import byte_level

SIZE = 300
SOURCE = """\
module babble

pub block Model<Vocab: Dim, MaxSeq: Dim, T: Float = f32>
where
    Vocab > 0,
    MaxSeq > 0
{
    param table: Tensor[Vocab, Vocab; T]
    state last: Tensor[1; i32]

    pub entry prefill<S: Dim>(tokens: Tensor[1, S; i32], pos: i32) -> Tensor[1, Vocab; T]
    where S > 0 {
        last = tokens[:, S - 1]
        return after(last)
    }

    pub entry decode(token: Tensor[1, 1; i32], pos: i32) -> Tensor[1, Vocab; T] {
        last = token[:, 0]
        return after(last)
    }

    pub entry follow(tokens: Tensor[1; i32]) -> Tensor[1, Vocab; T] {
        return after(tokens)
    }

    pub entry wide(tokens: Tensor[1, 4; i32], pos: i32) -> Tensor[1, Vocab; T] {
        return after(tokens[:, 3])
    }

    pub entry back<S: Dim>(tokens: Tensor[1, S; i32], pos: i32) -> Tensor[1, S; i32] {
        return tokens
    }

    fn after(tokens: Tensor[1; i32]) -> Tensor[1, Vocab; T] {
        let found[b, v] = table[tokens[b], v]
        return found
    }
}
"""
TOML = f"""\
[model]
name = "babble"
title = "Babble"
summary = "A card for tests."
license = "MIT"
family = "babble"
parameters = {SIZE * SIZE}

[links]
huggingface = "https://huggingface.co/a/babble"

[source]
path = "src/lib.linnet"
root = "Model"
entry = "follow"

[generics]
Vocab = {SIZE}
MaxSeq = 32
T = "f32"

[generate]
prefill = "prefill"

[weights]
repo = "a/babble"
revision = "0123456789abcdef0123456789abcdef01234567"
files = ["model.safetensors"]
"""
TEMPLATE = (
    "{% for m in messages %}{{ '<|start|>' ~ m.role ~ '<|message|>' ~ m.content ~ '<|end|>' }}"
    "{% endfor %}{{ '<|start|>assistant<|message|>' }}"
)


def write_card(parent: Path, *edits: tuple[str, str]) -> Path:
    """The card's folder; `edits` are (old, new) in its toml."""
    folder = parent / "babble"
    (folder / "src").mkdir(parents=True)
    toml = TOML
    for old, new in edits:
        assert old in toml
        toml = toml.replace(old, new)
    (folder / "nest.toml").write_text(toml)
    (folder / "src" / "lib.linnet").write_text(SOURCE)
    manifest = '[package]\nname = "babble"\nversion = "0.1.0"\nlanguage = "0.1"\n'
    (folder / "linnet.toml").write_text(manifest)
    return folder


def token(text: str) -> int:
    """The token of a text that is one."""
    (found,) = byte_level().encode(text).ids
    return found


def write_weights(parent: Path, chain: Sequence[int], **files: Any) -> Path:
    """A checkpoint in which each token of `chain` follows the one before it, a `tokenizer.json`
    and other files beside it, `name.json` as `name`."""
    folder = parent / "weights"
    folder.mkdir()
    table = np.zeros((SIZE, SIZE), np.float32)
    for before, after in pairwise(chain):
        table[before, after] = 1.0
    save_file({"table": table}, folder / "model.safetensors")
    (folder / "tokenizer.json").write_text(byte_level().to_str())
    for name, value in files.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return folder


def load(card: Path, **options: Any) -> Model:
    return nest.load(card, "numpy", **{"weights": "random", **options})
