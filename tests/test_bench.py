"""The benchmarks run; how long they take is not a test's matter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.backends.torch.layered import write_card

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


def test_growth_of_one_thing_is_measured() -> None:
    command = [sys.executable, str(ROOT / "bench" / "check_scaling.py")]
    command += ["--shape", "where", "--shape", "fields", "--runs", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["where"] * 3 + ["fields"] * 3
    assert all(float(row.split()[-2]) > 0 for row in (rows[2], rows[5]))


def test_unpacking_is_measured_beside_the_body() -> None:
    pytest.importorskip("torch")
    command = [sys.executable, str(ROOT / "bench" / "mxfp4.py"), "--threads", "1"]
    command += ["--rows", "8", "--groups", "2", "--runs", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, *rows = done.stdout.splitlines()
    assert first.startswith("8 x 64 weights to bf16, PyTorch ") and first.endswith(", 1 threads")
    names = [row.split("  ")[0] for row in rows]
    assert [n for n in names if n != "transformers"] == ["kernel", "body", "memory", "a token"]
    assert all(float(row[14:].split()[0]) >= 0 for row in rows)


def test_compiling_is_measured_for_two_depths(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    card = write_card(tmp_path)
    command = [sys.executable, str(ROOT / "bench" / "inductor_depth.py"), "--cold", "--caches"]
    command += ["--card", str(card), "--layers", "1", "2"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    _, one, two, ratio = done.stdout.splitlines()
    assert one.split()[:2] == ["1", "layers"] and two.split()[:2] == ["2", "layers"]
    for row in (one, two):
        assert row.endswith(", 3 pieces compiled")
    assert ratio.split()[:2] == ["ratio", "source"] and float(ratio.split()[-1]) > 0


def test_growth_is_measured_in_both_forms() -> None:
    command = [sys.executable, str(ROOT / "bench" / "check_scaling.py")]
    command += ["--lines", "1000", "--runs", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    machine, *rows = done.stdout.splitlines()
    assert machine.startswith("Python 3")
    assert [row.split()[0] for row in rows] == ["functions"] * 3 + ["library"] * 3
    for short, long, ratio in (rows[:3], rows[3:]):
        assert 1.5 * int(short.split()[1]) < int(long.split()[1])
        assert float(ratio.split()[-2]) > 0
