"""Gradients of the gpt-oss card's logits agree with central differences of the reference.

The bodies of some ops compute in f32 whatever the dtype, and a difference of two runs that round to
f32 says little. So the reference runs the same IR with every f32 written f64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from linnet import nest
from linnet.backends.numpy.interpreter import Interpreter
from linnet.ir.parse import parse
from linnet.ir.text import show
from linnet.nest.lowered import lower_card
from linnet.nest.presence import presence

GENERICS = {
    "Vocab": 16,
    "H": 32,
    "Heads": 4,
    "KvHeads": 2,
    "HeadDim": 4,
    "Inner": 32,
    "Experts": 4,
    "TopK": 2,
    "Layers": 2,
    "Window": 2,
    "Batch": 1,
    "MaxSeq": 8,
    "T": "f64",
}
TOKENS = np.asarray([[1, 5, 3, 7, 5]], np.int32)
AIM = np.random.default_rng(0).standard_normal((1, 5, 16))
LAYER = "pairs.0.sliding"
PARAMETERS = [
    "embed_tokens.weight",
    "norm.weight",
    "lm_head.weight",
    f"{LAYER}.input_layernorm.weight",
    f"{LAYER}.self_attn.sinks",
    f"{LAYER}.self_attn.k_proj.weight",
    f"{LAYER}.mlp.router.weight",
    f"{LAYER}.mlp.router.bias",
    f"{LAYER}.mlp.gate_up_bias",
    "pairs.0.full.self_attn.sinks",
    "pairs.0.full.mlp.router.weight",
    "pairs.0.full.mlp.down_bias",
]
CHOSEN = 2
"""How many elements of each are moved: those on which the loss depends most."""
STEP = 2.0**-17
"""A difference of two losses below 2**8 is off by their last digits, 2**-45, over the step: 2**-28.
A central difference is off beside that by the square of the step, 2**-34, times a third derivative
of about the size of the loss: 2**-26. Slopes are of order one."""
WITHIN = 100 * 2.0**-24
"""PyTorch has angles and norms in f32 whatever the dtype, and kernels all of attention: fewer than
a hundred of their roundings come one after the other."""


def load(backend: str, **options: Any) -> Any:
    named = {"generics": GENERICS, "weights": "random", "progress": False}
    return nest.load("gpt-oss-20b", backend, **named, **options)


class Reference:
    """The loss, of weights that may be moved."""

    def __init__(self) -> None:
        model = load("numpy")
        self.weights = {p: np.array(w) for p, w in model._runtime.compiled.weights.items()}
        written = show(lower_card(model.program, "forward", presence(self.weights)).module)
        assert "f32" in written
        self._run = Interpreter.of(parse(written.replace("f32", "f64"))).run

    def loss(self) -> float:
        (logits,) = self._run([TOKENS], weights=self.weights)
        return float(((logits - AIM) ** 2).sum())

    def slope(self, path: str, at: tuple[int, ...]) -> float:
        """Of the loss along an element of a parameter."""
        array = self.weights[path]
        kept = array[at]
        array[at] = kept + STEP
        above = self.loss()
        array[at] = kept - STEP
        below = self.loss()
        array[at] = kept
        return (above - below) / (2 * STEP)


@pytest.fixture(scope="module")
def slopes() -> dict[str, dict[tuple[int, ...], float]]:
    """By parameter and element."""
    reference = Reference()
    gradients = gradients_of("exact", True)
    found: dict[str, dict[tuple[int, ...], float]] = {}
    for path in PARAMETERS:
        gradient = gradients[path]
        assert gradient.shape == reference.weights[path].shape
        most = np.argsort(-np.abs(gradient), axis=None)[:CHOSEN]
        places = [tuple(map(int, np.unravel_index(k, gradient.shape))) for k in most]
        found[path] = {at: reference.slope(path, at) for at in places}
    return found


def gradients_of(numerics: str, generate: bool) -> dict[str, Any]:
    model = load("torch", compile=generate, trainable=True, numerics=numerics)
    ((model(TOKENS) - torch.from_numpy(AIM)) ** 2).sum().backward()
    return {p: w.grad.numpy() for p, w in model.named_parameters() if w.requires_grad}


@pytest.mark.parametrize("numerics", ["exact", "fast"])
@pytest.mark.parametrize("generate", [False, True])
def test_of_every_kind_of_parameter(
    slopes: dict[str, dict[tuple[int, ...], float]], numerics: str, generate: bool
) -> None:
    gradients = gradients_of(numerics, generate)
    for path, wanted in slopes.items():
        largest = max(map(abs, wanted.values()))
        assert largest > 1
        for at, slope in wanted.items():
            assert abs(gradients[path][at] - slope) <= WITHIN * largest, (path, at)
