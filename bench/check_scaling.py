"""How the time of a check grows with the length of a file.

    python bench/check_scaling.py [--lines 10000] [--shape NAME]... [--runs N]

Checks one file of about so many lines and one of twice as many, each run a new process, in two
forms: `functions`, many of them, with generics, index notation and calls of each other, and
`library`, the modules of the standard library that use no other, over and over under other names.
With `--shape` it is one thing that is there once or twice so often, as `long_shapes.py` makes it,
`body` or `where`; `--shape all` has them all.
Medians of the seconds that reading and checking take, imports left out, in brackets the fastest
and the slowest run; behind them the processor time, which other work on the machine stretches
less, and of which the ratio of the two lengths is taken. The aims: below 5 s for 10,000 lines, and
a ratio below 2.6.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from long_shapes import SHAPES

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "stdlib"

FUNCTION = """
// One of many: a projection, its activation, and what the one before makes of them.
pub fn step{n}<B: Dim, I: Dim, O: Dim>(
    x: Tensor[B, I; f32],
    w: Tensor[O, I; f32],
    bias: Tensor[O; f32]? = none,
) -> Tensor[B, O; f32]
where
    I % 2 == 0,
    I > 0
{{
    let y[b, o] = sum[i] x[b, i] * w[o, i]
    let half = x[:, 0:I / 2] + x[:, I / 2:]
    let scale[b] = sum[i] half[b, i]
    let z[b, o] = y[b, o] * scale[b]
    let shifted = match bias {{ some(v) => z + v  none => z }}
    return {result}
}}
"""

# What one process measures of itself.
MEASURE = """
import sys, time
from pathlib import Path
from linnet.pipeline import check_paths
path = Path(sys.argv[1])
start, busy = time.perf_counter(), time.process_time()
sink = check_paths([path]).sink
print(time.perf_counter() - start, time.process_time() - busy)
assert not sink.errors, list(sink)[0]
"""


def functions(lines: int, times: int) -> str:
    """`times` as many functions as `lines` take, each of which calls the one before."""
    count = times * (lines // FUNCTION.count("\n"))
    results = ["shifted", *(f"shifted + step{n}(x, w)" for n in range(count - 1))]
    text = "".join(FUNCTION.format(n=n, result=r) for n, r in enumerate(results))
    return "module long\n" + text


def library(lines: int, times: int) -> str:
    """The bodies of those library modules that use no other, their items renamed each time."""
    modules = [path.read_text("utf-8") for path in sorted(LIBRARY.rglob("*.linnet"))]
    alone = [text for text in modules if "\nuse " not in text]
    body = "\n".join(re.split(r"^module .*\n", text, flags=re.M)[1] for text in alone)
    items = set(re.findall(r"^(?:pub )?(?:fn|op|const|struct|enum|type|block) (\w+)", body, re.M))
    name = re.compile(rf"\b({'|'.join(sorted(items))})\b")
    count = times * max(1, round(lines / body.count("\n")))
    return "module long\n" + "\n".join(name.sub(rf"\1_{n}", body) for n in range(count))


def seconds(text: str, runs: int) -> tuple[list[float], list[float]]:
    """How long each of the runs takes and computes, after one that warms the parser's tables."""
    wall: list[float] = []
    busy: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.linnet"
        path.write_text(text, "utf-8")
        for run in range(runs + 1):
            command = [sys.executable, "-c", MEASURE, str(path)]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(done.stderr)
            if run:
                first, second = map(float, done.stdout.split())
                wall.append(first)
                busy.append(second)
    return wall, busy


def measured(name: str, text: str, runs: int) -> float:
    """Prints a row; gives the processor time."""
    wall, busy = seconds(text, runs)
    middle, computing = statistics.median(wall), statistics.median(busy)
    spread = f"({min(wall):.2f} to {max(wall):.2f})"
    count = text.count("\n")
    print(f"{name:<13} {count:6} lines {middle:7.2f} s {spread:16} {computing:7.2f} s")
    return computing


def forms(shapes: list[str], lines: int) -> dict[str, Callable[[int], str]]:
    """By name, what makes the sources of the shapes that were asked for, once or twice as long."""
    if not shapes:
        return {"functions": partial(functions, lines), "library": partial(library, lines)}

    def times(name: str, count: int) -> str:
        make, often = SHAPES[name]
        return make(count * often)

    return {name: partial(times, name) for name in (SHAPES if "all" in shapes else shapes)}


def main() -> None:
    parser = argparse.ArgumentParser(description="How a check grows with the length of a file.")
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--shape", action="append", choices=[*SHAPES, "all"], default=[])
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, {platform.machine()}")
    for name, make in forms(options.shape, options.lines).items():
        short = measured(name, make(1), options.runs)
        long = measured(name, make(2), options.runs)
        print(f"{name:<13} twice as long takes {long / short:.2f} times")


if __name__ == "__main__":
    main()
