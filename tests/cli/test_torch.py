"""`linnet torch`: a file that does as the loaded model does, without Linnet."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import torch

from linnet import nest
from linnet.cli.main import main

ROOT = Path(__file__).parents[2]
CARD = ROOT / "models" / "gpt-oss-20b"
TINY: dict[str, int | str] = tomllib.loads((CARD / "nest.toml").read_text("utf-8"))["tiny"]
SMALL = [word for name, value in TINY.items() for word in ("--set", f"{name}={value}")]
Capture = pytest.CaptureFixture[str]

ALONE = """\
import importlib.util, sys
import torch

class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("linnet", "triton"):
            raise ImportError(name)

sys.meta_path.insert(0, Nowhere())
written, data, results = sys.argv[1:]
spec = importlib.util.spec_from_file_location("written", written)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
given = torch.load(data)
net = module.model()
net.load_state_dict(module.state_dict_from(given["checkpoint"]))
with torch.inference_mode():
    found = [getattr(net, entry)(*args) for entry, args in given["calls"]]
torch.save(found, results)
"""


def said(capsys: Capture, *words: str, status: int = 1) -> str:
    """What the command prints."""
    assert main(["torch", *words]) == status
    captured = capsys.readouterr()
    return captured.out + captured.err


def calls() -> list[tuple[str, tuple[torch.Tensor, ...]]]:
    """A prompt without and with states, and what follows it."""
    rng = torch.Generator().manual_seed(1)
    tokens = torch.randint(int(TINY["Vocab"]), (2, 9), generator=rng, dtype=torch.int32)
    return [
        ("forward", (tokens,)),
        ("prefill", (tokens[:, :7], torch.tensor(0, dtype=torch.int32))),
        ("decode", (tokens[:, 7:8], torch.tensor(7, dtype=torch.int32))),
        ("decode", (tokens[:, 8:9], torch.tensor(8, dtype=torch.int32))),
    ]


@pytest.mark.parametrize("numerics", ["exact", "fast"])
def test_the_file_does_as_the_model_does_without_linnet(tmp_path: Path, numerics: str) -> None:
    file = tmp_path / "net.py"
    words = ["--numerics", numerics, *SMALL, "-o", str(file)]
    assert main(["torch", "gpt-oss-20b", *words]) == 0
    model: Any = nest.load("gpt-oss-20b", "torch", tiny=True, numerics=numerics)
    names: dict[str, str] = json.loads((CARD / "bindings.json").read_text("utf-8"))
    own = model.state_dict()
    checkpoint = {names[path]: tensor for path, tensor in own.items()}
    assert len(checkpoint) == len(own)
    torch.save({"checkpoint": checkpoint, "calls": calls()}, tmp_path / "given.pt")
    run = [sys.executable, "-I", "-c", ALONE, "net.py", "given.pt", "found.pt"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = torch.load(tmp_path / "found.pt")
    wanted = [getattr(model, entry)(*(a.numpy() for a in args)) for entry, args in calls()]
    assert len(found) == 4
    # The same operations in the same order.
    assert all(torch.equal(f, w) for f, w in zip(found, wanted, strict=True))


def test_what_is_imported_is_not_written_out(capsys: Capture) -> None:
    inline = said(capsys, "gpt-oss-20b", "--entry", "decode", status=0)
    imported = said(capsys, "gpt-oss-20b", "--entry", "decode", "--kernels", "import", status=0)
    assert "def rms_norm(" in inline and "linnet." not in inline
    assert "def rms_norm(" not in imported
    assert "from linnet.backends.torch.kernels.functions.norm import rms_norm\n" in imported
    assert "It needs Linnet installed" in imported and "It needs Linnet" not in inline
    for text in (inline, imported):
        compile(text, "net.py", "exec")
        assert "def decode(" in text and "def prefill(" not in text


def test_on_a_gpu_what_starts_triton_is_imported(capsys: Capture) -> None:
    pytest.importorskip("triton")
    text = said(capsys, "gpt-oss-20b", "--entry", "decode", "--device", "cuda", status=0)
    lines = [line for line in text.splitlines() if line.startswith("from linnet.")]
    assert lines and all(".kernels.triton." in line for line in lines)
    assert "def rms_norm(" in text and "It needs Linnet installed" in text


SOURCE = '''\
module m

/// Words of the package: """ + danger
pub block M<I: Dim, O: Dim = 2 * I>
where
    I > 1
{
    // and more words
    param w: Tensor[O, I; f32]

    /// Words of an entry.
    pub entry forward<B: Dim>(x: Tensor[B, I; f32]) -> Tensor[B, O; f32] {
        let y[b, o] = sum[i] x[b, i] * w[o, i]
        return y
    }
}
'''


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A bare file with one block."""
    path = tmp_path / "m.linnet"
    path.write_text(SOURCE, "utf-8")
    return str(path)


def test_of_a_package_only_names_are_in_the_file(file: str, capsys: Capture) -> None:
    text = said(capsys, file, "--set", "I=3", status=0)
    assert "ords" not in text and "danger" not in text
    assert "state_dict_from" not in text  # no card, no other names
    space: dict[str, Any] = {}
    exec(compile(text, "m.py", "exec"), space)
    net = space["model"]()
    w, x = torch.randn(6, 3), torch.ones(2, 3)
    net.load_state_dict({"w": w})
    # Sums of three products.
    assert torch.allclose(net(x), x @ w.T, rtol=0, atol=3 * 2.0**-23 * float(w.abs().sum(1).max()))


def test_what_is_wrong_is_said(file: str, tmp_path: Path, capsys: Capture) -> None:
    assert "no value for the generic `I`" in said(capsys, file)
    assert "E2111" in said(capsys, file, "--set", "I=3", "--set", "Q=1")
    assert "I > 1" in said(capsys, file, "--set", "I=1")
    text = said(capsys, file, "--set", "I=3", "--entry", "fward")
    assert "`M` has no entry `fward`" in text and "`forward`" in text
    nowhere = str(tmp_path / "nowhere" / "net.py")
    text = said(capsys, file, "--set", "I=3", "-o", nowhere)
    assert text.startswith("error[E2102]") and "cannot be written" in text
    assert "there is no card named" in said(capsys, "gpt-oss-21b")


def test_a_file_has_one_model(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "two.linnet"
    block = "pub block {} {{\n    pub entry f(x: f32) -> f32 {{\n        return x\n    }}\n}}\n"
    path.write_text("module two\n\n" + block.format("A") + "\n" + block.format("B"), "utf-8")
    text = said(capsys, str(path))
    assert "several blocks with entries: `A`, `B`" in text
    path.write_text("module two\n\npub entry f(x: f32) -> f32 {\n    return x\n}\n", "utf-8")
    assert "has no block with an entry" in said(capsys, str(path))


CLASH = """\
module clash

use std.nn.decoding::{top_k}

pub fn descending(x: Tensor[3; f32]) -> Tensor[3; f32] {
    return x + 1.0
}

pub fn state_dict_from(x: Tensor[3; f32]) -> Tensor[3; f32] {
    return x * 4.0
}

pub block Callable {
    param w: Tensor[3; f32]

    pub entry forward<B: Dim>(x: Tensor[B, 3; f32]) -> (Tensor[B, 2; f32], Tensor[3; f32]) {
        let (best, _place) = top_k<[B], 3, 2>(x)
        return (best, state_dict_from(descending(w)))
    }
}
"""


def test_names_of_a_package_hide_no_function_that_is_written_out(
    tmp_path: Path, capsys: Capture
) -> None:
    """`top_k` calls a `descending` of its own."""
    path = tmp_path / "clash.linnet"
    path.write_text(CLASH, "utf-8")
    space: dict[str, Any] = {}
    exec(compile(said(capsys, str(path), status=0), "clash.py", "exec"), space)
    net = space["model"]()
    w = torch.tensor([0.5, 1.5, -2.0])
    net.load_state_dict({"w": w})
    best, moved = net(torch.tensor([[1.0, 3.0, 2.0]]))
    assert best.tolist() == [[3.0, 2.0]]
    assert torch.equal(moved, (w + 1.0) * 4.0)
