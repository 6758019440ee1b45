"""The trained model as a checkpoint in the layout of openai/gpt-oss-20b, and back."""

from __future__ import annotations

from pathlib import Path

import quantize
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import GptOssConfig, GptOssForCausalLM

EXPERTS = ("gate_up_proj", "down_proj")


def write(model: GptOssForCausalLM, path: Path) -> None:
    """The experts' matrices in MXFP4, their rows the outputs; all else in bf16."""
    tensors: dict[str, Tensor] = {}
    for name, tensor in model.state_dict().items():
        # A matrix that is rounded while training has its unrounded weights under this name.
        plain = name.replace("parametrizations.", "").removesuffix(".original")
        if plain.endswith(EXPERTS):
            blocks, scales = quantize.packed(tensor.transpose(1, 2).float())
            tensors[plain + "_blocks"], tensors[plain + "_scales"] = blocks, scales
        else:
            tensors[plain] = tensor.to(torch.bfloat16).contiguous()
    save_file(tensors, path, metadata={"format": "pt"})


def read(config: GptOssConfig, path: Path) -> GptOssForCausalLM:
    """The checkpoint in transformers' model, all weights exact in f32.

    transformers itself computes with experts in bf16 whatever dtype is asked for.
    """
    tensors = load_file(path)
    state: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if name.endswith("_blocks"):
            plain = name.removesuffix("_blocks")
            state[plain] = quantize.unpacked(tensor, tensors[plain + "_scales"]).transpose(1, 2)
        elif not name.endswith("_scales"):
            state[name] = tensor.float()
    model = GptOssForCausalLM(config).eval()
    model.load_state_dict(state)
    return model
