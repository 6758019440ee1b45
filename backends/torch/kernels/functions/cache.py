"""Writes into a key/value cache `[B, H, S, D]`, S above 0. Each changes `cache` and gives it.

Nothing here waits for the device: what is written depends on positions that stay there. Every
function picks places of the cache, each once or always with one value, and writes into each
either what is new or, where nothing is to be written, what it holds.
"""

from __future__ import annotations

import torch


def span_in_cache(
    value: torch.Tensor, at: torch.Tensor, size: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """For `value [.., N, D]` at the positions from `at` on: distinct positions of a cache that has
    `size`, what of `value` is for each, and whether it is to be written there."""
    count = value.shape[2]
    ahead = torch.arange(min(count, size), device=value.device)
    if count <= size:
        target = ahead + at
        places = target.remainder(size)
        return places, value, target == places
    source = ahead - at
    inside = (source >= 0) & (source < count)
    return ahead, value.index_select(2, source.clamp(0, count - 1)), inside


def overwrite_span(cache: torch.Tensor, value: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    """`value [B, H, N, D]` at the positions from `at` on, which is a scalar."""
    places, new, inside = span_in_cache(value, at, cache.shape[2])
    kept = cache.index_select(2, places)
    return cache.index_copy_(2, places, torch.where(inside[:, None], new, kept))


def overwrite_rows(cache: torch.Tensor, value: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    """`value [B, H, 1, D]` at position `at[b]` of row `b`."""
    target = at.to(torch.int64)
    places = target.clamp(0, cache.shape[2] - 1)
    # `scatter_` would be as short, and changes the bits of a NaN in bf16.
    by_position = cache.transpose(1, 2)
    index = torch.arange(cache.shape[0], device=cache.device), places
    inside = (target == places)[:, None, None]
    by_position.index_put_(index, torch.where(inside, value[:, :, 0], by_position[index]))
    return cache


def overwrite_slot(
    cache: torch.Tensor, value: torch.Tensor, slot: torch.Tensor, at: torch.Tensor
) -> torch.Tensor:
    """`value [1, H, N, D]` at the positions from `at` on of row `slot`; both are scalars."""
    batch, _, size, _ = cache.shape
    if batch == 0:
        return cache
    places, new, inside = span_in_cache(value, at, size)
    target = places.new_zeros(()) + slot
    row = target.clamp(0, batch - 1)
    inside = inside & (target == row)
    by_position = cache.transpose(1, 2)
    index = row.expand(places.shape), places
    kept = by_position[index]
    by_position.index_put_(index, torch.where(inside[:, None, None], new[0].transpose(0, 1), kept))
    return cache


def overwrite_slots(
    cache: torch.Tensor, value: torch.Tensor, slots: torch.Tensor, at: torch.Tensor
) -> torch.Tensor:
    """`value[m]` of `value [M, H, N, D]` at the positions from `at` on of row `slots[m]`, for every
    `m`; of two for one row the later wins."""
    if value.shape[0] == 0:
        return cache
    places, new, inside = span_in_cache(value, at, cache.shape[2])
    rows = torch.arange(cache.shape[0], device=cache.device)
    order = torch.arange(value.shape[0], device=cache.device)
    # The last `m` that writes a row, -1 where none does.
    writer = torch.where(slots == rows[:, None], order, -1).amax(1)
    written = (writer >= 0)[:, None, None, None] & inside[:, None]
    new = new.index_select(0, writer.clamp_min(0))
    kept = cache.index_select(2, places)
    return cache.index_copy_(2, places, torch.where(written, new, kept))


def overwrite_tokens(
    cache: torch.Tensor, value: torch.Tensor, rows: torch.Tensor, positions: torch.Tensor
) -> torch.Tensor:
    """`value[0, :, p]` of `value [1, H, P, D]` at position `positions[p]` of row `rows[p]`, for
    every `p`; of two for one place the later wins."""
    batch, _, size, _ = cache.shape
    count = value.shape[2]
    if count == 0 or batch == 0:
        return cache
    row, position = rows.to(torch.int64), positions.to(torch.int64)
    inside = (row >= 0) & (row < batch) & (position >= 0) & (position < size)
    cells = torch.where(inside, row * size + position, batch * size)
    order = torch.arange(count, device=cache.device)
    last = order.new_zeros(batch * size + 1).scatter_reduce_(0, cells, order, "amax")
    # A token outside does as the first inside; where none is, all keep what is in place 0.
    source = last[cells[torch.where(inside, order, inside.to(torch.int32).argmax())]]
    index = row[source].clamp(0, batch - 1), position[source].clamp(0, size - 1)
    by_position = cache.transpose(1, 2)
    new = value[0].transpose(0, 1)[source]
    kept = by_position[index]
    by_position.index_put_(index, torch.where(inside[source][:, None, None], new, kept))
    return cache
