"""What the pages for newcomers show works as they show it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from linnet.check.intrinsics import TABLE
from linnet.cli.main import main
from linnet.pipeline import check_paths

ROOT = Path(__file__).parents[2]
FIRST_MODEL = (ROOT / "docs" / "first-model.md").read_text()
README = (ROOT / "README.md").read_text()


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[str]:
    """The indented lines of a page that call `linnet`."""
    return re.findall(r"^    (linnet .*)$", page, re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page's model and a checkpoint for its bindings, in the current folder."""
    package, card = blocks(FIRST_MODEL, "toml")
    (source,) = blocks(FIRST_MODEL, "rust")
    (tmp_path / "mlp" / "src").mkdir(parents=True)
    (tmp_path / "mlp" / "linnet.toml").write_text(package)
    (tmp_path / "mlp" / "nest.toml").write_text(card)
    (tmp_path / "mlp" / "src" / "lib.linnet").write_text(source)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_of_the_first_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = commands(FIRST_MODEL)
    assert len(lines) == 6
    for line in lines:
        if "FOLDER" in line:
            continue
        assert main(shlex.split(line)[1:]) == 0, line
    shown = capsys.readouterr().out
    for path in ("embed.weight", "scale", "up.weight", "down.weight", "head"):
        assert f"  {path} " in shown
    assert "forward: [1, 3, 10] float32" in shown


def test_python_of_the_first_model(folder: Path) -> None:
    (code,) = blocks(FIRST_MODEL, "python")
    exec(compile(code, "first-model.md", "exec"), {})


def test_bindings_of_the_first_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The logits are those of the same model in NumPy."""
    rng = np.random.default_rng(0)
    shapes = {
        "model.embed_tokens.weight": (10, 4),
        "model.norm.weight": (4,),
        "model.mlp.up_proj.weight": (8, 4),
        "model.mlp.down_proj.weight": (4, 8),
        "lm_head.weight": (10, 4),
    }
    tensors = {n: rng.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    save_file(tensors, folder / "model.safetensors")
    (bindings,) = blocks(FIRST_MODEL, "json")
    (folder / "mlp" / "bindings.json").write_text(bindings)
    for line in commands(FIRST_MODEL):
        if "FOLDER" in line:
            assert main(shlex.split(line.replace("FOLDER", "."))[1:]) == 0, line
    capsys.readouterr()

    from linnet import nest

    model = nest.load("mlp", backend="numpy", weights=".", progress=False)
    found = model([[1, 2, 3]])[0]
    embed, norm, up, down, head = (tensors[n].astype(np.float64) for n in shapes)
    x = embed[[1, 2, 3]]
    normed = x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-6) * norm
    want = (x + np.maximum(normed @ up.T, 0) @ down.T) @ head.T
    # A product of n terms adds at most n roundings, each relative to the sum of the terms' sizes:
    # 4 (mean) + 4 (quotient, weight), 4 (up), 8 (down), 1 (residual), 4 (head).
    sizes = (np.abs(x) + np.abs(normed) @ np.abs(up.T) @ np.abs(down.T)) @ np.abs(head.T)
    assert (np.abs(found - want) <= 25 * 2.0**-24 * sizes).all()


@pytest.mark.parametrize(
    ("page", "begin", "end"),
    [
        ("first-model.md", "Without an import there are", "dtypes are"),
        ("tour.md", "What there is without an import:", "[a table]"),
    ],
)
def test_the_prelude_is_listed(page: str, begin: str, end: str) -> None:
    table = (ROOT / "docs" / page).read_text("utf-8").split(begin)[1].split(end)[0]
    named = set(re.findall(r"[a-z][a-z0-9_]*", " ".join(re.findall(r"`([^`]+)`", table))))
    assert set(TABLE) <= named


def test_example_of_the_readme(tmp_path: Path) -> None:
    lines = README.split("    module scores\n")[1].split("\n`linnet check")[0]
    source = "module scores\n" + "\n".join(line[4:] for line in lines.splitlines())
    file = tmp_path / "scores.linnet"
    file.write_text(source)
    assert not list(check_paths([file]).sink)
    file.write_text(source.replace("key[k, d]", "key[d, k]"))
    (finding,) = check_paths([file]).sink
    assert finding.code == "E2201"
    assert "`D`" in finding.message and "`K`" in finding.message
