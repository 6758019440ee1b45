"""How long a cold `linnet check` takes, as a whole process and in its parts.

    python bench/check_cold.py [PATH] [--runs N]

Each run is a new process. The parts are measured inside such processes, so
that they too pay for imports and cold caches; `start` is an interpreter that
does nothing. Medians, and in brackets the fastest and the slowest run.
`computing` is processor time, which other work on the machine stretches less.
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

# What one process measures of itself: seconds for each part of a check.
PARTS = """
import json, sys, time
from pathlib import Path
marks = [time.perf_counter()]
import linnet.pipeline, linnet.cli.main
marks.append(time.perf_counter())
from linnet.packages.modules import load_modules
from linnet.source.diagnostics import Sink
graph = load_modules([Path(sys.argv[1])], Sink())
marks.append(time.perf_counter())
result = linnet.pipeline.check_paths([Path(sys.argv[1])])
marks.append(time.perf_counter())
if (Path(sys.argv[1]) / "nest.toml").is_file():
    from linnet.nest.card import load_card
    from linnet.nest.survey import survey
    card = load_card(Path(sys.argv[1]), result.sink)
    assert card and survey(card, result.sink, checked=result)
marks.append(time.perf_counter())
lines = sum(m.file.text.count("\\n") for m in graph.modules)
imports, parse, both, card = (b - a for a, b in zip(marks, marks[1:]))
found = {"imports": imports, "parse": parse, "check": both - parse, "card": card}
print(json.dumps({"seconds": found, "modules": len(graph.modules), "lines": lines}))
"""


def timed(command: list[str], runs: int) -> tuple[list[float], list[float]]:
    """Wall-clock and processor seconds of each run, after one run that warms the disk."""
    seconds: list[float] = []
    busy: list[float] = []
    for run in range(runs + 1):
        start, used = time.perf_counter(), processor_time()
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
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
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
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
    parser.add_argument("path", nargs="?", type=Path, default=ROOT / "models" / "gpt-oss-20b")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    path = options.path.resolve()
    start, _ = timed([sys.executable, "-c", "pass"], options.runs)
    whole, busy = timed([sys.executable, "-m", "linnet.cli.main", "check", str(path)], options.runs)
    inner, modules, lines = parts(path, options.runs)
    print(f"linnet check {options.path}: {modules} modules, {lines} lines, {options.runs} runs")
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, {platform.machine()}")
    print(row("whole", whole))
    print(row("  computing", busy))
    print(row("  start", start))
    for name, seconds in inner.items():
        print(row(f"  {name}", seconds))


if __name__ == "__main__":
    main()
