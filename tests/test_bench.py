"""The benchmarks run; how long they take is not a test's matter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_a_cold_check_is_measured_in_its_parts() -> None:
    card = ROOT / "models" / "gpt-oss-20b"
    command = [sys.executable, str(ROOT / "bench" / "check_cold.py"), str(card), "--runs", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, machine, *rows = done.stdout.splitlines()
    assert first.startswith("linnet check models/gpt-oss-20b: ") and machine.startswith("Python 3")
    names = ["whole", "computing", "start", "imports", "parse", "check", "card"]
    assert [row.split()[0] for row in rows] == names
    assert all(float(row.split()[1]) >= 0 and row.split()[2] == "ms" for row in rows)
