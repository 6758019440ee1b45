"""How fast PyTorch unpacks MXFP4 weights on the CPU, and how fast a token passes its experts.

    python bench/mxfp4.py [--rows OUT] [--groups G] [--runs N] [--threads N]

The sizes are those of one gpt-oss-20b expert unless given. `kernel` is what the backend runs,
`body` the op's definition on the reference interpreter, `transformers` its
`convert_moe_packed_tensors` where transformers is installed. `memory` is a copy of as many bytes as
the weights have when unpacked, which no way of unpacking beats. `a token` is unpacking and the
product of one row. Fastest of the runs, because other work on the machine only ever adds; beside
other work measure with one thread, because several wait for each other.
"""

from __future__ import annotations

import argparse
import importlib.util
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]


def fastest(runs: int, function: Callable[[], Any]) -> float:
    """Seconds of the fastest run, after one that fills caches."""
    function()
    found: list[float] = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)


def body(blocks: Any, scales: Any) -> Callable[[], Any]:
    """The op's body in bf16 on the reference interpreter."""
    from linnet.backends.numpy.interpreter import Interpreter
    from linnet.dtypes import DType
    from linnet.lower.module import lower_function
    from linnet.pipeline import check_paths

    program = check_paths([ROOT / "stdlib"]).program
    experts, out, groups = scales.shape
    generics: dict[str, Any] = {"E": experts, "Out": out, "G": groups, "T": DType.BF16}
    module = lower_function(program, "std.quant::dequantize_mxfp4", generics)
    interpreter = Interpreter.of(module)
    return lambda: interpreter.run([blocks, scales])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=5760)
    parser.add_argument("--groups", type=int, default=90)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, help="of PyTorch; all by default")
    given = parser.parse_args()
    import torch

    torch.set_num_threads(given.threads or torch.get_num_threads())

    from linnet.backends.torch.kernels.functions import experts as functions

    rng = np.random.default_rng(0)
    shape = (1, given.rows, given.groups)
    blocks = rng.integers(0, 256, (*shape, 16), dtype=np.uint8)
    scales = rng.integers(118, 132, shape, dtype=np.uint8)
    packed, powers = torch.from_numpy(blocks), torch.from_numpy(scales)
    print(
        f"{given.rows} x {given.groups * 32} weights to bf16, PyTorch {torch.__version__}, ", end=""
    )
    print(f"Python {platform.python_version()}, {torch.get_num_threads()} threads")

    unpacked = functions.dequantize_mxfp4(packed, powers, torch.bfloat16)
    ways: dict[str, Callable[[], Any]] = {
        "kernel": lambda: functions.dequantize_mxfp4(packed, powers, torch.bfloat16),
        "body": body(blocks, scales),
        "memory": lambda: unpacked.clone(),
    }
    if importlib.util.find_spec("transformers"):
        from transformers.integrations.mxfp4 import convert_moe_packed_tensors

        ways["transformers"] = lambda: convert_moe_packed_tensors(packed, powers)
    times = {name: fastest(given.runs, way) for name, way in ways.items()}
    for name, seconds in times.items():
        print(
            f"{name:14}{1000 * seconds:10.2f} ms {seconds / times['kernel']:10.2f} times the kernel"
        )

    token = torch.randn(1, 1, given.groups * 32, dtype=torch.bfloat16)
    chosen = torch.zeros(1, 1, dtype=torch.int64)
    one = fastest(given.runs, lambda: functions.mxfp4_experts(token, packed, powers, chosen))
    plain = fastest(given.runs, lambda: torch.nn.functional.linear(token[0], unpacked[0]))
    print(f"{'a token':14}{1000 * one:10.2f} ms {one / plain:10.2f} times the product alone")


if __name__ == "__main__":
    main()
