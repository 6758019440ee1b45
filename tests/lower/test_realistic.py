"""Model code as people write it: the checker proves it without help, and it lowers.

`realistic/*.linnet` are attentions, convolutions, scans, mixtures. Each states in its `where`
what must hold, and nothing else; their results are compared with NumPy where that is short.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linnet.backends.numpy.interpreter import run
from linnet.check.typed import Program
from linnet.dims.prover import Facts
from linnet.ir.verify import verify
from linnet.lower.module import lower_entry, lower_function
from linnet.pipeline import check_paths
from linnet.source.render import render_text

FOLDER = Path(__file__).parent / "realistic"
CASES = sorted(FOLDER.glob("*.linnet"))
RANDOM = np.random.default_rng(5)


def program(name: str) -> Program:
    result = check_paths([FOLDER / f"{name}.linnet"])
    assert not list(result.sink), "\n".join(render_text(d) for d in result.sink)
    return result.program


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("name", [case.stem for case in CASES])
def test_is_proven_and_lowers(name: str) -> None:
    made = program(name)
    lowered = 0
    for key, function in made.functions.items():
        open_ = [g for g in function.generics if g.kind != "Dim"]
        if function.block is None and not open_:
            verify(lower_function(made, key), Facts(function.facts))
            lowered += 1
    for key, block in made.blocks.items():
        generics = {g.name: "f32" for g in block.generics if g.kind not in ("Dim", "Shape")}
        for method in block.methods.values():
            function = made.functions[method]
            if function.kind == "entry":
                name = method.rpartition(".")[2]
                module = lower_entry(made, key, generics, name, lambda _: True)
                verify(module, Facts((*block.facts, *function.facts)))
                lowered += 1
    assert lowered or made.blocks


def computed(name: str, function: str, *args: np.ndarray, **generics: int) -> np.ndarray:
    module = lower_function(program(name), f"{name}::{function}", generics)
    (result,) = run(module, args)
    return result


def windows(x: np.ndarray, sides: tuple[int, int], kernel: int) -> np.ndarray:
    padded = np.pad(x, [(0, 0), (0, 0), sides])
    return np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=2)


def close(result: np.ndarray, form: str, *args: np.ndarray, terms: int) -> None:
    """Each of `terms` products and their sums is rounded once to 24 bits."""
    expected = np.einsum(form, *(a.astype(np.float64) for a in args))
    size = np.einsum(form, *(np.abs(a) for a in args))
    assert np.all(np.abs(result - expected) <= (terms + 1) * 2.0**-24 * size)


@pytest.mark.parametrize("size", [1, 4, 5])
@pytest.mark.parametrize("kernel", [1, 2, 3, 6])
def test_a_convolution_keeps_the_length(size: int, kernel: int) -> None:
    x, w = normal(2, 3, size), normal(4, 3, kernel)
    sides = ((kernel - 1) // 2, kernel - 1 - (kernel - 1) // 2)
    result = computed("convolutions", "same", x, w)
    close(result, "bctk,ock->bot", windows(x, sides, kernel), w, terms=3 * kernel)


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_a_strided_convolution_with_padding(stride: int) -> None:
    x, w = normal(2, 3, 7), normal(3, 3)
    result = computed("convolutions", "conv_out", x, w, S=stride, P=2)
    close(result, "bctk,ck->bct", windows(x, (2, 2), 3)[:, :, ::stride], w, terms=3)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 130])
def test_padding_to_blocks_and_back(size: int) -> None:
    x = normal(2, size, 3)
    padded = np.pad(x, [(0, 0), (0, -size % 64), (0, 0)]).reshape(2, -1, 64, 3)
    expected = (padded - padded.max(2, keepdims=True, initial=-np.inf)).reshape(2, -1, 3)[:, :size]
    np.testing.assert_array_equal(computed("padded_blocks", "run", x), expected)


@pytest.mark.parametrize(("length", "chunk"), [(0, 2), (4, 4), (6, 2), (5, 1)])
def test_a_scan_in_chunks_is_the_scan(length: int, chunk: int) -> None:
    x, a = normal(2, length, 3), RANDOM.uniform(0.5, 1, (2, length)).astype(np.float32)
    h, expected = np.zeros((2, 3)), np.zeros(x.shape)
    for t in range(length):
        h = h * a[:, t, None] + x[:, t]
        expected[:, t] = h
    result = computed("chunked_scan", "chunked", x, a, C=chunk)
    # A decay is rounded by `log`, a sum of `chunk` terms, a difference and `exp`; its logarithm
    # stays below 0.7 * chunk. Sums of `length` terms and products by decays add one each.
    roundings = (0.7 * chunk + 1) * (chunk + 4) + 2 * length
    bound = roundings * 2.0**-23 * np.abs(x).sum(1, initial=0).max()
    np.testing.assert_allclose(result, expected, rtol=0, atol=bound)


def test_pixels_shuffle_there_and_back() -> None:
    x = normal(2, 3, 4, 6)
    np.testing.assert_array_equal(computed("pixel_shuffle", "round", x, R=2), x)
