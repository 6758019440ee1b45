"""The gpt-oss cards on a small checkpoint whose logits transformers computed, and their inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linnet import nest
from linnet.nest import Model

SHARED = Path(__file__).parents[1] / ".." / "shared"
FIXTURE = SHARED / "fixtures" / "gpt-oss-tiny"
SEED = SHARED / "seed" / "gpt-oss-20b"
CARDS = ["gpt-oss-20b", pytest.param(SEED, id="seed")]

needs_fixture = pytest.mark.skipif(not FIXTURE.exists(), reason="../shared is absent")


def generics(dtype: str) -> dict[str, Any]:
    """Those of the checkpoint."""
    return json.loads((FIXTURE / "fixture.json").read_text())["generics"] | {"T": dtype}


def load(card: Any, dtype: str, backend: str = "numpy", **options: Any) -> Model:
    """A card with the checkpoint, `exact` if not asked otherwise."""
    given = {"generics": generics(dtype), "weights": FIXTURE, "cast_dtype": True}
    return nest.load(card, backend=backend, **given, **({"numerics": "exact"} | options))


def padded(prompts: list[Any], length: int) -> Any:
    """The prompts in rows of one length, junk behind them."""
    rows = np.full((len(prompts), length), 7, np.int32)
    for row, prompt in zip(rows, prompts, strict=True):
        row[: len(prompt)] = prompt
    return rows


def packed(prompts: list[tuple[int, Any]], padding: int) -> dict[str, Any]:
    """(row, tokens) end to end; the padding writes to the last position of row 0."""
    count = len(prompts)
    lengths = [len(p) for _, p in prompts]
    last = np.zeros(2, np.int32)
    last[:count] = np.cumsum(lengths) - 1
    return {
        "tokens": np.concatenate([*(p for _, p in prompts), np.full(padding, 5, np.int32)]),
        "rows": np.repeat([*(r for r, _ in prompts), 0], [*lengths, padding]),
        "positions": np.concatenate([*map(np.arange, lengths), np.full(padding, 63)]),
        "segments": np.repeat([*range(count), count], [*lengths, padding]),
        "last": last,
    }
