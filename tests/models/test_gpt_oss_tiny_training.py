"""What gpt-oss-tiny was trained with: the quantiser and the attention, against others' of both."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

CARD = Path(__file__).parents[2] / "models" / "gpt-oss-tiny"
FILE = CARD / "model.safetensors"
LAYERS = 4

pytest.importorskip("torch")
pytest.importorskip("transformers")


def script(name: str) -> ModuleType:
    """A file beside the card, which is no package."""
    spec = importlib.util.spec_from_file_location(name, CARD / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def quantize() -> ModuleType:
    return script("quantize")


def test_numbers_of_four_bits_are_those_of_ml_dtypes(quantize: ModuleType) -> None:
    import torch
    from ml_dtypes import float4_e2m1fn

    # All sixteenths and their neighbours in f32, so that each tie and both its sides are there.
    grid = np.arange(-128, 129, dtype=np.float32) / 16
    values = np.concatenate([grid, np.nextafter(grid, -99), np.nextafter(grid, 99)], dtype="f4")
    found = quantize.to_e2m1(torch.from_numpy(values)).numpy()
    kept = np.clip(values, -6, 6)
    assert found.tolist() == kept.astype(float4_e2m1fn).astype(np.float32).tolist()


@pytest.mark.parametrize(
    ("largest", "exponent"),
    [(6.0, 0), (4.0, 0), (7.999, 0), (8.0, 1), (3.999, -1), (1.0, -2), (2.0**-100, -102), (0, 0)],
)
def test_a_block_s_scale(quantize: ModuleType, largest: float, exponent: int) -> None:
    """The largest power of two in the block, by that of the format's largest number, 4."""
    import torch

    row = torch.zeros(32)
    row[7] = -largest
    blocks, scales = quantize.packed(row)
    assert scales.tolist() == [127 + exponent]
    magnitude = 7 if largest >= 5 * 2.0**exponent else 6 if largest >= 3.5 * 2.0**exponent else 0
    assert blocks.tolist() == [[0, 0, 0, (magnitude + 8) << 4 if largest else 0] + [0] * 12]


def test_packed_weights_are_the_rounded_ones(quantize: ModuleType) -> None:
    import torch
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors

    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(2, 6, 96, generator=generator) * torch.logspace(-9, 9, 6)[:, None]
    blocks, scales = quantize.packed(weight)
    assert (blocks.shape, scales.shape) == ((2, 6, 3, 16), (2, 6, 3))
    opened = convert_moe_packed_tensors(blocks, scales, dtype=torch.float32).transpose(1, 2)
    assert torch.equal(opened, quantize.rounded(weight))
    assert torch.equal(opened, quantize.unpacked(blocks, scales))
    # Half the widest gap of the numbers, from 4 to 6, is 1; what is cut off above 6 is less than 2.
    error = (opened - weight).unflatten(-1, (-1, 32)).abs()
    assert (error < 2 * torch.exp2(scales.float() - 127)[..., None]).all()


def test_the_checkpoint_is_what_the_quantiser_makes_of_it(quantize: ModuleType) -> None:
    """Its weights are rounded already, and no block could have had a smaller scale."""
    import torch
    from safetensors.torch import load_file
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors

    tensors = load_file(FILE)
    names = [n.removesuffix("_blocks") for n in tensors if n.endswith("_blocks")]
    assert len(names) == 2 * LAYERS
    for name in names:
        blocks, scales = tensors[f"{name}_blocks"], tensors[f"{name}_scales"]
        weight = convert_moe_packed_tensors(blocks, scales, dtype=torch.float32).transpose(1, 2)
        again, powers = quantize.packed(weight.contiguous())
        assert torch.equal(powers, scales)
        assert torch.equal(again & 0x77, blocks & 0x77)


@pytest.mark.parametrize("window", [None, 5])
def test_fused_attention_is_that_of_transformers(window: int | None) -> None:
    import torch
    from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward

    generator = torch.Generator().manual_seed(0)
    query, key, value = (
        torch.randn(2, heads, 12, 8, generator=generator, dtype=torch.float64)
        for heads in (4, 2, 2)
    )
    layer = torch.nn.Module().eval()
    layer.num_key_value_groups = 2
    layer.sinks = torch.randn(4, generator=generator, dtype=torch.float64)
    seen = torch.ones(12, 12, dtype=torch.bool).tril()
    if window is not None:
        seen = seen.triu(1 - window)
    bias = torch.zeros(12, 12, dtype=torch.float64).masked_fill(~seen, -torch.inf)
    expected, _ = eager_attention_forward(layer, query, key, value, bias, 0.3)
    mask = None if window is None else seen.expand(2, 1, 12, 12)
    found, _ = script("attention").fused_sinks(
        layer, query, key, value, mask, 0.3, s_aux=layer.sinks
    )
    # Sums of 13 numbers of order one in f64.
    torch.testing.assert_close(found, expected, rtol=0, atol=13 * 8 * 2.0**-52)
