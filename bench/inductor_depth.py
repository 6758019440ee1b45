"""What the number of layers costs before the first token: source, and TorchInductor's compiling.

    python bench/inductor_depth.py [--card gpt-oss-20b] [--layers 4 24] [--entry decode]

Loads the card (its name or folder) at its tiny size with random weights, once for each number of
layers, and times how long all its source takes to be generated, and then the first call of
`prefill` (5 tokens) or `decode` with compile="inductor", which compiles it. Each is a process of
its own, with one compiling thread, and with none of TorchInductor's caches unless `--caches` is
given. The first run of all is thrown away, unless `--cold` is given: it has what only the machine's
first one pays, such as headers of C++ compiled ahead. Processor time, compilers included, is what
the ratios are of: other work on the machine stretches it less. The aim: a ratio of at most 1.3 for
the first step.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

# What one process measures of itself; a compiler that it ran is a child that has ended.
MEASURE = """
import os, sys, time
import numpy as np
from linnet import nest
card, layers, entry = sys.argv[1], int(sys.argv[2]), sys.argv[3]
def spent():
    t = os.times()
    return np.asarray([time.perf_counter(), sum(t[:4])])  # own and children's, user and system
import torch._inductor.compile_fx  # what is measured is not its import
model = nest.load(
    card, tiny=True, progress=False, compile="inductor", generics={"Layers": layers}
)
start = spent()
source = model.source()
generated = spent() - start
rows = [model.generics["Batch"]] if "Batch" in model.generics else []
tokens = np.ones([*rows, 5 if entry == "prefill" else 1], np.int32)
start = spent()
model.run(entry, (tokens, 0), {})
first = spent() - start
print(*generated, *first, sum(model.variants.values()), len(source.splitlines()))
"""


def measured(card: str, layers: int, entry: str, caches: bool) -> list[float]:
    """Seconds and processor seconds of generating and of the first step, how many pieces were
    compiled, and the lines of source."""
    own = {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
    if not caches:
        own["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-c", MEASURE, card, str(layers), entry]
    environment = {**os.environ, **own, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(done.stderr)
    return [float(word) for word in done.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--card", default="gpt-oss-20b")
    parser.add_argument("--layers", type=int, nargs=2, default=[4, 24])
    parser.add_argument("--entry", choices=["prefill", "decode"], default="decode")
    parser.add_argument("--cold", action="store_true", help="do not throw a first run away")
    parser.add_argument("--caches", action="store_true", help="with TorchInductor's caches")
    options = parser.parse_args()
    few, many = options.layers
    if not options.cold:
        measured(options.card, few, options.entry, options.caches)
    print(f"{options.card}, tiny, {options.entry}; Python {platform.python_version()}", end=", ")
    print("seconds and processor seconds")
    rows = {n: measured(options.card, n, options.entry, options.caches) for n in (few, many)}
    for layers, row in rows.items():
        source, step = f"{row[0]:6.2f} {row[1]:6.2f}", f"{row[2]:6.2f} {row[3]:6.2f}"
        pieces, lines = int(row[4]), int(row[5])
        print(f"{layers:3} layers  source {source}, {lines} lines  first step {step}", end="")
        print(f", {pieces} pieces compiled")
    (_, one, _, step, *_), (_, other, _, later, *_) = rows[few], rows[many]
    print(f"ratio       source {other / one:.2f}  first step {later / step:.2f}")


if __name__ == "__main__":
    main()
