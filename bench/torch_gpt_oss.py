"""gpt-oss-20b at its full width with few layers on the CPU: this project beside transformers.

    python bench/torch_gpt_oss.py [--layers N] [--threads N] [--runs N] [--loads N] [--folder F]

Random weights, the same for both: a checkpoint in the published layout, MXFP4 experts among it, in
a temporary folder, or in `--folder`, where a later run finds it. Both sides compute in bf16 with
the experts unpacked to bf16 when they are loaded (`prepare=True`; `Mxfp4Config(dequantize=True)`).

`load` is from the files to a model, imports left out; `first` is a load with the prompt behind it,
which a load that leaves work for later does not make shorter. `decode` is one token behind a
text of 64, `prompt` a text of 512 and the scores behind it, both with the caches written. Runs
alternate between the two sides, so that other work on the machine meets both. Medians, fastest
and slowest; a ratio is the time of transformers over that of this project, of each pair of runs
its own, and of these the median. `computing` is the ratio of processor times, which other work
stretches less; it says something with one thread alone, because several wait for each other by
computing. Before any is measured, what both compute is compared.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import platform
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch

from linnet import nest
from linnet.backends.torch.arrays import of_numpy
from linnet.nest.opened import open_whole
from linnet.nest.random_weights import random_weights
from linnet.nest.survey import survey
from linnet.source.diagnostics import Sink

Seconds: TypeAlias = tuple[float, float]
Times: TypeAlias = dict[str, list[Seconds]]

CARD = "gpt-oss-20b"
CONTEXT, PROMPT = 64, 512
FILE = "model.safetensors"


# --- the checkpoint ----------------------------------------------------------


def write(folder: Path, layers: int) -> None:
    """The weights under their published names, and the config that transformers reads."""
    safetensors: Any = importlib.import_module("safetensors.torch")
    sink = Sink()
    opened = open_whole(CARD, sink, {"Layers": layers})
    assert opened is not None and opened.program is not None
    plan = survey(opened, sink)
    assert plan is not None
    weights = random_weights(plan.bound)
    tensors = {plan.bindings[path]: of_numpy(array) for path, array in weights}
    safetensors.save_file(tensors, folder / FILE, {"format": "pt"})
    config = configuration(opened.program.generics)
    (folder / "config.json").write_text(json.dumps(config))


def configuration(generics: Any) -> dict[str, Any]:
    """`config.json` of the published checkpoint, with fewer layers."""
    layers = generics["Layers"]
    return {
        "architectures": ["GptOssForCausalLM"],
        "model_type": "gpt_oss",
        "vocab_size": generics["Vocab"],
        "hidden_size": generics["H"],
        "intermediate_size": generics["Inner"],
        "num_attention_heads": generics["Heads"],
        "num_key_value_heads": generics["KvHeads"],
        "head_dim": generics["HeadDim"],
        "num_local_experts": generics["Experts"],
        "num_experts_per_tok": generics["TopK"],
        "num_hidden_layers": layers,
        "layer_types": ["sliding_attention", "full_attention"] * (layers // 2),
        "sliding_window": generics["Window"],
        "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5,
        "rope_theta": 150000.0,
        "rope_scaling": {
            "rope_type": "yarn",
            "factor": 32.0,
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "truncate": False,
            "original_max_position_embeddings": 4096,
        },
        "attention_bias": True,
        "tie_word_embeddings": False,
        "swiglu_limit": 7.0,
        "quantization_config": {
            "quant_method": "mxfp4",
            "modules_to_not_convert": [
                "model.layers.*.self_attn",
                "model.layers.*.mlp.router",
                "model.embed_tokens",
                "lm_head",
            ],
        },
    }


# --- the two sides -----------------------------------------------------------


class Own:
    """This project: entries `prefill` and `decode`."""

    def __init__(self, folder: Path, layers: int) -> None:
        self.model = nest.load(
            CARD,
            weights=folder / FILE,
            generics={"Layers": layers},
            prepare=True,
            progress=False,
        )

    def prompt(self, tokens: torch.Tensor) -> torch.Tensor:
        """The scores behind a text, whose keys and values are in the caches then."""
        return self.model.prefill(tokens, 0)

    def decode(self, token: torch.Tensor, at: int) -> torch.Tensor:
        """The scores behind one token more, at position `at`."""
        return self.model.decode(token, at)


class Transformers:
    """`GptOssForCausalLM` with a cache that grows, cut back after each decoded token."""

    def __init__(self, folder: Path, layers: int) -> None:
        self.library: Any = importlib.import_module("transformers")
        unpacked = self.library.Mxfp4Config(dequantize=True)
        self.model: Any = self.library.GptOssForCausalLM.from_pretrained(
            folder, dtype=torch.bfloat16, quantization_config=unpacked
        ).eval()
        self.cache: Any = None

    @torch.no_grad()
    def prompt(self, tokens: torch.Tensor) -> torch.Tensor:
        """As above, the head applied to the last token alone."""
        self.cache = self.library.DynamicCache(config=self.model.config)
        found = self.model(tokens, past_key_values=self.cache, use_cache=True, logits_to_keep=1)
        return found.logits[:, -1]

    @torch.no_grad()
    def decode(self, token: torch.Tensor, at: int) -> torch.Tensor:
        """As above, at the position behind what the cache holds, which it is left with."""
        found = self.model(token, past_key_values=self.cache, use_cache=True)
        self.cache.crop(-1)
        return found.logits[:, -1]


SIDES: dict[str, type[Own] | type[Transformers]] = {"linnet": Own, "transformers": Transformers}


# --- measuring ---------------------------------------------------------------


class Clock:
    """Seconds since it was made, by the wall and of the processor."""

    def __init__(self) -> None:
        self.start = time.perf_counter(), time.process_time()

    def read(self) -> Seconds:
        """Both."""
        return time.perf_counter() - self.start[0], time.process_time() - self.start[1]


def alternating(runs: int, ways: dict[str, Callable[[], Any]]) -> Times:
    """The times of each run of each way, the ways in turn, the first of a pair in turn too."""
    found: Times = {name: [] for name in ways}
    for run in range(runs):
        order = list(ways) if run % 2 == 0 else list(reversed(ways))
        for name in order:
            clock = Clock()
            ways[name]()
            found[name].append(clock.read())
    return found


def row(title: str, unit: float, times: Times) -> None:
    """A line of a table in Markdown."""
    cells: list[str] = []
    for found in times.values():
        walls = [unit * wall for wall, _ in found]
        spread = f"{min(walls):.1f} to {max(walls):.1f}"
        cells.append(f"{statistics.median(walls):.1f} ({spread})")
    own, theirs = times.values()
    for kind in (0, 1):
        ratios = [b[kind] / a[kind] for a, b in zip(own, theirs, strict=True)]
        cells.append(f"{statistics.median(ratios):.2f}")
    print(f"| {title} | {' | '.join(cells)} |", flush=True)


def loads(folder: Path, given: argparse.Namespace, prompt: torch.Tensor) -> None:
    """Load times. A model is gone before the next is loaded."""
    load: Times = {name: [] for name in SIDES}
    first: Times = {name: [] for name in SIDES}
    for _ in range(given.loads):
        for name, side in SIDES.items():
            clock = Clock()
            model = side(folder, given.layers)
            load[name].append(clock.read())
            model.prompt(prompt)
            first[name].append(clock.read())
            del model
            gc.collect()
    row("load, s", 1.0, load)
    row("first, s", 1.0, first)


def compare(title: str, own: torch.Tensor, theirs: torch.Tensor) -> None:
    """What two sides compute: the greatest difference beside the size of the scores."""
    a, b = own.float(), theirs.float()
    worst, size = float((a - b).abs().max()), float(b.std())
    same = bool((a.argmax(-1) == b.argmax(-1)).all())
    print(f"{title}: greatest difference {worst:.4f}, deviation of the scores {size:.4f}, ", end="")
    print(f"best token {'the same' if same else 'another'}")
    # Sums in another order round differently in bf16, and of two experts that are nearly equal a
    # router may then take the other. A wrong mask, angle or expert moves scores by about their
    # deviation, and the largest of 200,000 by several.
    if worst > 0.5 * size:
        sys.exit("the two sides do not compute the same")


def runs(folder: Path, given: argparse.Namespace, tokens: torch.Tensor) -> None:
    """What both compute, compared, then the rows of decode and prompt."""
    context, token, text = tokens[:, :CONTEXT], tokens[:, CONTEXT : CONTEXT + 1], tokens[:, :PROMPT]
    models = {name: side(folder, given.layers) for name, side in SIDES.items()}
    compare("prompt", *(m.prompt(text) for m in models.values()))
    for model in models.values():
        model.prompt(context)
    compare("decode", *(m.decode(token, CONTEXT) for m in models.values()))

    print(f"\n| | {' | '.join(SIDES)} | ratio | computing |\n| --- | --- | --- | --- | --- |")
    decode = {name: lambda m=m: m.decode(token, CONTEXT) for name, m in models.items()}
    row("decode, ms", 1e3, alternating(given.runs, decode))
    prompt = {name: lambda m=m: m.prompt(text) for name, m in models.items()}
    row("prompt, ms", 1e3, alternating(given.runs, prompt))


def measure(folder: Path, given: argparse.Namespace) -> None:
    """All of it; the models of the runs are gone before any load is timed."""
    rng = np.random.default_rng(0)
    tokens = of_numpy(rng.integers(0, 200000, (1, PROMPT + 1), dtype=np.int32))
    runs(folder, given, tokens)
    gc.collect()
    loads(folder, given, tokens[:, :PROMPT])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--loads", type=int, default=1)
    parser.add_argument("--threads", type=int, help="of PyTorch; all by default")
    parser.add_argument("--folder", type=Path, help="where the checkpoint is, or is to be")
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(given.threads or torch.get_num_threads())
    transformers: Any = importlib.import_module("transformers")
    transformers.logging.set_verbosity_error()
    print(f"{CARD}, {given.layers} layers, {torch.get_num_threads()} threads, ", end="")
    print(f"{torch.backends.cpu.get_cpu_capability()}, PyTorch {torch.__version__}, ", end="")
    print(f"transformers {transformers.__version__}, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / FILE).exists():
            write(folder, given.layers)
        measure(folder, given)


if __name__ == "__main__":
    main()
