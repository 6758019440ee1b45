"""What the page on PyTorch shows: code that runs, generated source, and what is explained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from linnet import nest
from linnet.cli.main import main
from tests.docs.pages import DOCS, Fence, fences

FENCES = fences("torch.md")


def shown(language: str, path: str = "") -> list[Fence]:
    """The fences of a kind."""
    found = [f for f in FENCES if (f.language, f.path) == (language, path)]
    assert found
    return found


def test_the_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    for fence in shown("python"):
        text = "\n" * (fence.line - 1) + fence.text
        exec(compile(text, "torch.md", "exec"), space)


def test_the_excerpts_are_of_the_generated_source() -> None:
    model: Any = nest.load("gpt-oss-20b", tiny=True)
    source = model.source()
    for fence in shown("python", "source"):
        assert fence.text in source, fence.line


def test_what_is_explained_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("triton")
    monkeypatch.chdir(DOCS.parent)  # places are told from here
    words = ["--backend", "torch", "--device", "cuda", "--entry", "decode"]
    assert main(["explain", "gpt-oss-20b", *words]) == 0
    said = capsys.readouterr().out
    for fence in shown("text"):
        assert fence.text in said, fence.line


def test_a_file_is_written_and_loaded_as_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tensors of a loaded model, saved under their paths, in the file's model."""
    monkeypatch.chdir(tmp_path)
    assert main(["torch", "gpt-oss-tiny", "-o", "written.py"]) == 0
    model: Any = nest.load("gpt-oss-tiny", weights="random")
    torch.save(model.state_dict(), "saved.pt")
    space: dict[str, Any] = {}
    exec(compile(Path("written.py").read_text("utf-8"), "written.py", "exec"), space)
    net = space["model"]()
    net.load_state_dict(torch.load("saved.pt"))
    with torch.inference_mode():
        assert torch.equal(net(torch.tensor([[1, 2]], dtype=torch.int32)), model([[1, 2]]))
