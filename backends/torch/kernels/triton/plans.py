"""Tiles and grids by shape alone: nothing is timed, so a launch is the same under capture.

The numbers are for a Hopper card (132 multiprocessors), where a program of four warps that waits
for memory needs several others beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

_MULTIPROCESSORS = 132
_ENOUGH = 4 * _MULTIPROCESSORS
"""Programs that keep the memory busy."""


def tiles(size: int, tile: int) -> int:
    """How many tiles cover `size`."""
    return -(-size // tile)


def power(size: int) -> int:
    """The least power of two that is at least `size`, and 1."""
    return 1 << max(size - 1, 0).bit_length()


@dataclass(frozen=True, slots=True)
class FewRows:
    """Outputs and blocks of a program's tile, the splits of the reduction, blocks in each."""

    outputs: int
    blocks: int
    splits: int
    span: int


def few_rows(pairs: int, out: int, groups: int) -> FewRows:
    """For `pairs` products of `out` outputs and `groups` blocks of 32 inputs."""
    outputs = min(16, power(out))
    blocks = min(32, power(groups))
    wanted = tiles(_ENOUGH, pairs * tiles(out, outputs))
    span = tiles(tiles(groups, blocks), wanted) * blocks
    return FewRows(outputs, blocks, tiles(groups, span), span)


@dataclass(frozen=True, slots=True)
class Grouped:
    """Outputs, pairs and blocks of a program's tile, and the most tiles of pairs there may be."""

    outputs: int
    pairs: int
    blocks: int
    tiles: int


def grouped(pairs: int, experts: int, out: int, groups: int) -> Grouped:
    """For `pairs` rows and their experts: a tile has about an expert's share of the pairs."""
    tile = min(128, max(16, power(tiles(pairs, experts))))
    # Every expert may have one tile that is not full.
    most = min(pairs, pairs // tile + experts)
    outputs = min(128, max(16, power(out)))
    return Grouped(outputs, tile, min(4, power(groups)), most)


@dataclass(frozen=True, slots=True)
class Attention:
    """Rows and keys of a program's tile, the head dimension in it, splits, keys in each."""

    rows: int
    keys: int
    width: int
    splits: int
    span: int


def attention(heads: int, rows: int, keys: int, width: int) -> Attention:
    """For `heads` key/value heads in the whole batch, each read by `rows` rows."""
    tile = min(32, max(8, power(rows)))
    # A tile of keys and one of values in f32, 16 KiB each where a head is 64 wide or more.
    block = min(64, max(16, 4096 // power(width)), max(16, power(keys)))
    wanted = tiles(2 * _MULTIPROCESSORS, heads * tiles(rows, tile))
    span = tiles(tiles(keys, block), wanted) * block
    return Attention(tile, block, max(16, power(width)), tiles(keys, span), span)
