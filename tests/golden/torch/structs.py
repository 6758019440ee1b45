"""structs"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn


class Pair(NamedTuple):
    count_: Tensor
    class_: Tensor


class Affine(NamedTuple):
    weight: Tensor
    bias: Tensor


class Other(NamedTuple):
    count_: Tensor
    class_: Tensor


def halves(x: Tensor) -> Pair:
    return Pair(x * 0.5, x * 0.5)


def both(x: Tensor) -> tuple[Pair, Tensor]:
    value = halves(x)  # [n], [n]
    return value, x + 1.0


def swapped(pair: Pair) -> Pair:
    return Pair(pair.class_, pair.count_)


def nested(pair: Pair, x: Tensor) -> tuple[Pair, Tensor, Tensor, Tensor]:
    return pair, x, x, x * 2.0


def flat(
    nest_pair: Pair, nest_single_only: Tensor, nest_weight: Tensor, nest_bias: Tensor
) -> Tensor:
    value = nest_pair.count_ + nest_pair.class_ + nest_single_only + nest_weight  # [n]
    return value + nest_bias


def other(pair: Pair) -> Other:
    return Other(pair.count_, pair.class_)


def sum_of(other: Other) -> Tensor:
    return other.count_ + other.class_


def sum_of_2(other: Other, pair: Pair) -> Tensor:
    return other.count_ + pair.count_


class Model(nn.Module):
    def __init__(self, n: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n, dtype=torch.float32))
        self.bias = nn.Parameter(torch.empty(n, dtype=torch.float32))

    def apply_(self, affine: Affine, x: Tensor) -> Tensor:
        return affine.weight * x + affine.bias

    def run(self, x: Tensor) -> Tensor:
        pair, more = both(x)  # [n], [n], [n]
        value = swapped(pair)  # [n], [n]
        again = swapped(value)  # [n], [n]
        carried_count, carried_class = again.count_, again.class_
        for _i in range(2):
            carried = swapped(Pair(carried_count, carried_class))  # [n], [n]
            carried_count, carried_class = carried.count_, carried.class_
        value_2, value_3, value_4, value_5 = nested(
            Pair(carried_count, carried_class), self.apply_(Affine(self.weight, self.bias), more)
        )
        whole = flat(value_2, value_3, value_4, value_5)  # [n]
        value_6 = other(pair)  # [n], [n]
        value_7 = other(again)  # [n], [n]
        return whole + sum_of(value_6) + sum_of_2(value_7, pair)

    def pairs(self, x: Tensor) -> tuple[Tensor, Tensor]:
        value = halves(x)  # [n], [n]
        return value.count_, value.class_


def model() -> Model:
    """The model, its parameters not set."""
    return Model(n=3)
