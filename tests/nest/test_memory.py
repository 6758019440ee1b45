"""What loading a model costs: its bytes once, however it is converted on the way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.nest.small import TOML

SOURCE = """\
module small

pub block Part<N: Dim, T: Float> {
    param w: Tensor[N; T]

    pub fn add(x: Tensor[N; T]) -> Tensor[N; T] {
        return x + w
    }
}

pub block Model<N: Dim, Parts: Dim, T: Float> {
    sub parts: [Part<N, T>; Parts]

    pub entry forward(x: Tensor[N; T]) -> Tensor[N; T] {
        var y = x
        static for part in parts {
            y = part.add(y)
        }
        return y
    }
}
"""
MIB = 1 << 20
GENERICS = f'[generics]\nN = {MIB // 2}\nParts = 64\nT = "bf16"\n'

# The high-water mark of resident memory, in KiB, is reset through `clear_refs`.
PROBE = """
import sys
from pathlib import Path
from linnet import nest

def status(key):
    return int(Path("/proc/self/status").read_text().split(key + ":")[1].split()[0])

def load(weights, **generics):
    return nest.load(
        sys.argv[1], "numpy", weights=weights, generics=generics, cast_dtype=True, progress=False
    )

card, dtype, one, all_ = sys.argv[1:]
kept = load(one, Parts=1, T=dtype)
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
model = load(all_, T=dtype)
# Every weight is looked at, as a model that runs does.
total = sum(int(w.reshape(-1).view("u1").sum()) for w in model._runtime.compiled.weights.values())
print(status("VmHWM") - before)
"""


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="needs Linux's counters of resident memory"
)
@pytest.mark.parametrize(("dtype", "held"), [("bf16", 64 * MIB), ("f32", 128 * MIB)])
def test_a_loaded_model_is_held_once(tmp_path: Path, dtype: str, held: int) -> None:
    card = tmp_path / "small"
    (card / "src").mkdir(parents=True)
    (card / "src" / "lib.linnet").write_text(SOURCE)
    head, _, tail = TOML.partition("[generics]")
    tail = tail.partition("[check]")[2].replace('bindings = "bindings.json"\n', "")
    (card / "nest.toml").write_text(f"{head}{GENERICS}\n[check]{tail}".replace("S = 8\n", ""))
    part = np.ones(MIB // 2, ml_dtypes.bfloat16)
    parts = {f"parts.{i}.w": part for i in range(64)}
    save_file(parts, tmp_path / "all.safetensors")
    save_file({"parts.0.w": part}, tmp_path / "one.safetensors")
    words = [str(card), dtype, *(str(tmp_path / f"{n}.safetensors") for n in ("one", "all"))]
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert held * 0.9 < int(done.stdout) * 1024 < held * 1.15
