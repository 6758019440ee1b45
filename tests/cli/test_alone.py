"""The commands need no framework and leave the process as they found it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Runs a command line where no framework can be imported, warnings are errors, and no graphics
# processor is visible.
PROBE = """
import locale, os, random, signal, sys, warnings
from importlib.abc import MetaPathFinder

BLOCKED = {"torch", "jax", "jaxlib", "triton", "onnxruntime", "tensorflow"}
BLOCKED |= {"transformers", "tokenizers"}

class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"blocked: {name}", name=name)

sys.meta_path.insert(0, Blocked())
import numpy as np

def settings():
    return {
        "numpy errors": np.geterr(),
        "numpy print": np.get_printoptions(),
        "numpy random": np.random.get_state()[1].tolist(),
        "filters": list(warnings.filters),
        "recursion": sys.getrecursionlimit(),
        "digits": sys.get_int_max_str_digits(),
        "hook": sys.excepthook,
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "locale": locale.setlocale(locale.LC_ALL),
        "random": random.getstate(),
        "interrupt": signal.getsignal(signal.SIGINT),
        "profile": sys.getprofile(),
    }

before = settings()
"""
CHECK = """
assert not BLOCKED & {name.partition(".")[0] for name in sys.modules}
after = settings()
assert after == before, [name for name in before if before[name] != after[name]]
"""


def alone(code: str) -> str:
    """What the code prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROBE + code + CHECK],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "models", "stdlib"], ""),
        (["lint", "models", "stdlib"], ""),
        (["inspect", "models/gpt-oss-20b", "--ast"], "Module 1:1-"),
        (["inspect", "models/gpt-oss-20b", "--parameters"], "459 params, 13761264768 bytes"),
        (["nest", "list"], "gpt-oss-20b"),
        (["nest", "show", "gpt-oss-20b"], "20,914,757,184 weights"),
        (["nest", "check", "gpt-oss-20b"], "459 parameters"),
        (["explain", "gpt-oss-20b"], "std.nn.attention::sink_attention"),
        (["run", "gpt-oss-20b", "--tiny", "--tokens", "1,2,3"], "forward: [1, 3, 320] float32"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_a_command(words: list[str], said: str) -> None:
    text = alone(f"from linnet.cli.main import main\nassert main({words!r}) == 0\n")
    assert said in text if said else text == ""


def test_a_model_takes_token_ids_of_64_bits() -> None:
    code = """
from linnet import nest
model = nest.load("gpt-oss-20b", "numpy", weights="random", generics={
    "Vocab": 40, "H": 32, "Heads": 2, "KvHeads": 1, "HeadDim": 4, "Inner": 32, "Experts": 2,
    "TopK": 1, "Layers": 2, "Window": 2, "Batch": 1, "MaxSeq": 8, "T": "bf16",
})
print(model(np.array([[1, 39]], np.int64)).shape)
"""
    assert alone(code) == "(1, 2, 40)\n"


def test_every_module_of_the_project_may_be_imported() -> None:
    code = """
from importlib import import_module
from pathlib import Path
for top in ("linnet", "backends"):
    for path in sorted(Path(top).rglob("*.py")):
        framework = path.parts[:2] == ("backends", "torch")  # it imports what it is for
        plain = ".." not in path.parts and not path.is_symlink() and not framework
        if path.stem != "__init__" and plain:
            parts = path.with_suffix("").parts
            import_module(".".join(("linnet", *parts) if top == "backends" else parts))
"""
    assert alone(code) == ""
