"""Kernels of `std.nn.activations`: the framework computes each in f32, or f64, and rounds once."""

from __future__ import annotations

from linnet.backends.torch.kernels.functions import activations as functions
from linnet.backends.torch.kernels.records import Word, calling, kernel

KERNELS = (
    kernel(
        "std.nn.activations::sigmoid",
        "torch.sigmoid",
        "equivalent",
        calling("torch.sigmoid", "x"),
        why="one operation of the framework, rounded once",
    ),
    # Not exact: of two zeros it gives the one that it gets.
    kernel(
        "std.nn.activations::relu",
        "torch.relu",
        "equivalent",
        calling("torch.relu", "x"),
        why="one operation of the framework",
    ),
    kernel(
        "std.nn.activations::silu",
        "torch.silu",
        "equivalent",
        calling("F.silu", "x"),
        why="one operation of the framework, rounded once",
    ),
    kernel(
        "std.nn.activations::gelu",
        "torch.gelu",
        "equivalent",
        calling("F.gelu", "x", approximate=Word('"tanh"')),
        why="one operation of the framework, rounded once",
    ),
    # `F.gelu` adds one to an `erf` near minus one, which leaves few digits below -3.
    kernel(
        "std.nn.activations::gelu_erf",
        "torch.gelu_erf",
        "fast",
        calling("F.gelu", "x"),
        why="one operation of the framework, which loses digits far below zero",
    ),
    kernel(
        "std.nn.activations::gelu_erf",
        "torch.gelu_erfc",
        "equivalent",
        calling(functions.gelu_by_erfc, "x"),
        why="accurate far below zero, too, where the framework's own loses digits",
    ),
    # Beyond the threshold the result is `x`, which up to f64's digits is right beyond 40.
    kernel(
        "std.nn.activations::softplus",
        "torch.softplus",
        "equivalent",
        calling("F.softplus", "x", threshold=Word("40.0")),
        why="one operation of the framework, rounded once",
    ),
)
