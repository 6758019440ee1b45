"""Builders of small cards and checkpoints, whole and broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CARD = """\
[model]
name = "small"
title = "Small"
summary = "A card for tests."
license = "MIT"
family = "small"
tags = ["test"]
parameters = 6

[links]
huggingface = "https://huggingface.co/a/small"

[source]
path = "src/lib.linnet"
root = "Model"
entry = "forward"

[generics]
H = 2
T = "f32"

[check]
S = 8

[tiny]
H = 1

[weights]
repo = "a/small"
revision = "0123456789abcdef0123456789abcdef01234567"
files = ["one.safetensors", "two.safetensors"]
bindings = "bindings.json"
"""

BINDINGS = """\
{
  "norm": "model.norm",
  "head.weight": "model.head"
}
"""


def header_bytes(header: Any) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text


@pytest.fixture
def card_text() -> str:
    return CARD


@pytest.fixture
def make_card(tmp_path: Path) -> Callable[..., Path]:
    """Writes a card; `edits` are pairs of a text in its nest.toml and what replaces it."""

    def make(*edits: tuple[str, str], bindings: str | bytes = BINDINGS) -> Path:
        folder = tmp_path / "small"
        (folder / "src").mkdir(parents=True, exist_ok=True)
        (folder / "src" / "lib.linnet").write_text("module lib\n")
        text = CARD
        for old, new in edits:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (folder / "nest.toml").write_text(text)
        data = bindings if isinstance(bindings, bytes) else bindings.encode()
        (folder / "bindings.json").write_bytes(data)
        return folder

    return make


@pytest.fixture
def write_tensors(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file from a header (an object or its text's bytes) and data, with no checks."""

    def write(name: str, header: Any, data: bytes = b"") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(header_bytes(header) + data)
        return path

    return write
