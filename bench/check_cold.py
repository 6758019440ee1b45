"""How long a cold `linnet check` takes, as a whole process and in its parts.

    python bench/check_cold.py [PATH] [--runs N]

Each run is a new process. The parts are measured inside such processes, so
that they too pay for imports and cold caches; `start` is an interpreter that
does nothing, `card` what a card's bindings and generics cost on top. PATH is
by default the card of `../shared/seed` if that is there, else the project's
own. Medians, and in brackets the fastest and the slowest run.
`computing` is processor time, which other work on the machine stretches less.
Modules are compiled once, before what is measured, whatever the environment says of that.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
SEED = ROOT.parent / "shared" / "seed" / "gpt-oss-20b"
OWN = ROOT / "models" / "gpt-oss-20b"

# The first process leaves compiled modules to the others, as where people use it.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

# What one process measures of itself: seconds for each part of a check.
PARTS = """
import json, sys, time
from pathlib import Path
marks = [time.perf_counter()]
import linnet.pipeline, linnet.cli.main
marks.append(time.perf_counter())
from linnet.check.program import check_modules
from linnet.packages.modules import load_modules
from linnet.pipeline import CheckResult
from linnet.source.diagnostics import Sink
sink = Sink()
graph = load_modules([Path(sys.argv[1])], sink)
marks.append(time.perf_counter())
result = CheckResult(check_modules(graph.modules, sink), sink, graph)
marks.append(time.perf_counter())
if (Path(sys.argv[1]) / "nest.toml").is_file():
    from linnet.nest.opened import open_whole
    from linnet.nest.survey import survey
    opened = open_whole(Path(sys.argv[1]), sink, checked=result)
    assert opened and survey(opened, sink)
marks.append(time.perf_counter())
lines = sum(m.file.text.count("\\n") for m in graph.modules)
names = ["imports", "parse", "check", "card"]
found = dict(zip(names, (b - a for a, b in zip(marks, marks[1:]))))
print(json.dumps({"seconds": found, "modules": len(graph.modules), "lines": lines}))
"""


def timed(command: list[str], runs: int) -> tuple[list[float], list[float]]:
    """Wall-clock and processor seconds of each run, after one run that warms the disk."""
    seconds: list[float] = []
    busy: list[float] = []
    for run in range(runs + 1):
        start, used = time.perf_counter(), processor_time()
        done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        if run:
            seconds.append(time.perf_counter() - start)
            busy.append(processor_time() - used)
    return seconds, busy


def processor_time() -> float:
    """Seconds that the processes started so far have computed: another load does not count."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def parts(path: Path, runs: int) -> tuple[dict[str, list[float]], int, int]:
    """The parts' seconds over all runs, and the modules and lines that were read."""
    found: dict[str, list[float]] = {}
    modules = lines = 0
    for _ in range(runs):
        command = [sys.executable, "-c", PARTS, str(path)]
        done = subprocess.run(
            command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=True
        )
        document = json.loads(done.stdout)
        modules, lines = document["modules"], document["lines"]
        for name, seconds in document["seconds"].items():
            found.setdefault(name, []).append(seconds)
    return found, modules, lines


def row(name: str, seconds: list[float]) -> str:
    middle, low, high = statistics.median(seconds), min(seconds), max(seconds)
    return f"{name:<12} {middle * 1000:8.0f} ms   ({low * 1000:.0f} to {high * 1000:.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description="Times a cold `linnet check`.")
    parser.add_argument("path", nargs="?", type=Path, default=SEED if SEED.is_dir() else OWN)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    path = options.path.absolute()
    start, _ = timed([sys.executable, "-c", "pass"], options.runs)
    whole, busy = timed([sys.executable, "-m", "linnet.cli.main", "check", str(path)], options.runs)
    inner, modules, lines = parts(path, options.runs)
    shown = os.path.relpath(path, ROOT)
    print(f"linnet check {shown}: {modules} modules, {lines} lines, {options.runs} runs")
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, {platform.machine()}")
    print(row("whole", whole))
    print(row("  computing", busy))
    print(row("  start", start))
    for name, seconds in inner.items():
        print(row(f"  {name}", seconds))


if __name__ == "__main__":
    main()
