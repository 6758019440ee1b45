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
its own, and of these the median. Before any is measured, what both compute is compared.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from linnet import nest
from linnet.backends.torch.arrays import of_numpy
from linnet.nest.opened import open_whole
from linnet.nest.random_weights import random_weights
from linnet.nest.survey import survey
from linnet.source.diagnostics import Sink

CARD = "gpt-oss-20b"
CONTEXT, PROMPT = 64, 512
FILE = "model.safetensors"


# --- the checkpoint ----------------------------------------------------------


def write(folder: Path, layers: int) -> None:
    """The weights under their published names, and the config that transformers reads."""
    from safetensors.torch import save_file

    sink = Sink()
    opened = open_whole(CARD, sink, {"Layers": layers})
    assert opened is not None and opened.program is not None
    plan = survey(opened, sink)
    weights = random_weights(plan.bound)
    tensors = {plan.bindings[path]: of_numpy(array) for path, array in weights}
    save_file(tensors, folder / FILE, {"format": "pt"})
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
        from transformers import GptOssForCausalLM, Mxfp4Config

        self.model = GptOssForCausalLM.from_pretrained(
            folder, dtype=torch.bfloat16, quantization_config=Mxfp4Config(dequantize=True)
        ).eval()
        self.cache: Any = None

    @torch.no_grad()
    def prompt(self, tokens: torch.Tensor) -> torch.Tensor:
        """As above, the head applied to the last token alone."""
        from transformers import DynamicCache

        self.cache = DynamicCache()
        found = self.model(tokens, past_key_values=self.cache, use_cache=True, logits_to_keep=1)
        return found.logits[:, -1]

    @torch.no_grad()
    def decode(self, token: torch.Tensor, at: int) -> torch.Tensor:
        """As above; `at` is how much the cache holds."""
        found = self.model(token, past_key_values=self.cache, use_cache=True)
        self.cache.crop(at)
        return found.logits[:, -1]


SIDES: dict[str, type[Own] | type[Transformers]] = {"linnet": Own, "transformers": Transformers}


# --- measuring ---------------------------------------------------------------


def timed(function: Callable[[], Any]) -> float:
    """Seconds of one run."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def alternating(runs: int, ways: dict[str, Callable[[], Any]]) -> dict[str, list[float]]:
    """Seconds of each run of each way, the ways in turn, the first of a pair in turn too."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for run in range(runs):
        order = list(ways) if run % 2 == 0 else list(reversed(ways))
        for name in order:
            found[name].append(timed(ways[name]))
    return found


def row(title: str, unit: float, times: dict[str, list[float]]) -> None:
    """A line of a table in Markdown."""
    cells: list[str] = []
    for found in times.values():
        low, middle, high = (unit * s for s in (min(found), statistics.median(found), max(found)))
        cells.append(f"{middle:.2f} ({low:.2f} to {high:.2f})")
    own, theirs = times.values()
    ratio = statistics.median(b / a for a, b in zip(own, theirs, strict=True))
    print(f"| {title} | {' | '.join(cells)} | {ratio:.2f} |", flush=True)


def loads(folder: Path, given: argparse.Namespace, prompt: torch.Tensor) -> None:
    """Load times. A model is gone before the next is loaded."""
    load: dict[str, list[float]] = {name: [] for name in SIDES}
    first: dict[str, list[float]] = {name: [] for name in SIDES}
    for _ in range(given.loads):
        for name, side in SIDES.items():
            start = time.perf_counter()
            model = side(folder, given.layers)
            load[name].append(time.perf_counter() - start)
            model.prompt(prompt)
            first[name].append(time.perf_counter() - start)
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
    # bf16 keeps 8 bits. Two roundings of each of a few dozen steps stay far below a tenth of the
    # scores' deviation times their four or five deviations; another computation does not.
    if worst > 0.5 * size:
        sys.exit("the two sides do not compute the same")


def measure(folder: Path, given: argparse.Namespace) -> None:
    """The comparison, then the table."""
    rng = np.random.default_rng(0)
    tokens = torch.from_numpy(rng.integers(0, 200000, (1, PROMPT + 1), dtype=np.int32))
    context, token, text = tokens[:, :CONTEXT], tokens[:, CONTEXT : CONTEXT + 1], tokens[:, :PROMPT]
    models = {name: side(folder, given.layers) for name, side in SIDES.items()}
    compare("prompt", *(m.prompt(text) for m in models.values()))
    for model in models.values():
        model.prompt(context)
    compare("decode", *(m.decode(token, CONTEXT) for m in models.values()))

    print(f"\n| | {' | '.join(SIDES)} | ratio |\n| --- | --- | --- | --- |")
    decode = {name: lambda m=m: m.decode(token, CONTEXT) for name, m in models.items()}
    row("decode, ms", 1e3, alternating(given.runs, decode))
    prompt = {name: lambda m=m: m.prompt(text) for name, m in models.items()}
    row("prompt, ms", 1e3, alternating(given.runs, prompt))
    del models, model, decode, prompt
    gc.collect()
    loads(folder, given, text)


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
    import transformers

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
