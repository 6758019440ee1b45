"""The page for users of PyTorch: its examples give the same in PyTorch, and its habits get what it
says."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linnet.lint.lint import lint
from linnet.packages.modules import load_modules
from linnet.pipeline import check_paths
from linnet.source.diagnostics import Sink

from .pages import DOCS, Example, compare, fences, parameters
from .running import Call, values

PAGE = "from-pytorch.md"
TEXT = (DOCS / PAGE).read_text("utf-8")
ROW = re.compile(r"^\| `([^`]+)` \|([^|]*(?:\\\|[^|]*)*)\| `([^`]+)` \|$", re.MULTILINE)
HABITS = list(ROW.finditer(TEXT[TEXT.index("\n## Habits") :]))


class Peer:
    """The example in PyTorch, given the parameters and the calls of the interpreter."""

    def __init__(self, code: str) -> None:
        self.torch: Any = pytest.importorskip("torch")
        self.names: dict[str, Any] = {"torch": self.torch}
        exec(compile(code, PAGE, "exec"), self.names)

    def load(self, tensors: dict[str, Any]) -> None:
        state = {path: self.torch.from_numpy(value) for path, value in tensors.items()}
        self.names["model"].load_state_dict(state, strict=True)

    def check(self, call: Call, got: Any) -> None:
        owner: Any = self.names.get("model")
        function = getattr(owner, call.name) if owner else self.names[call.name]
        with self.torch.no_grad():
            want = function(*map(self._tensor, call.args))
        # Sums of two or three terms, an exp and a quotient: a few roundings each of f32.
        np.testing.assert_allclose(got, want.numpy(), rtol=2.0**-20, atol=2.0**-20)

    def _tensor(self, value: Any) -> Any:
        return self.torch.tensor(value) if isinstance(value, list) else value


@pytest.mark.parametrize("example", parameters(PAGE))
def test_example(example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    peer = Peer(example.python.text) if example.python else None
    compare(PAGE, example, tmp_path, lambda result, shown: values(result, shown, peer))


def test_every_python_example_is_compared() -> None:
    found = [e.values[0] for e in parameters(PAGE)]
    compared = [e for e in found if e.python and e.shown and not e.rejected]
    assert len(compared) == sum(f.language == "python" for f in fences(PAGE)) == 8


def method(line: str) -> str:
    (context,) = (f.text for f in fences(PAGE) if "// here" in f.text)
    return context.replace("// here", line)


def item(line: str) -> str:
    return f"module habits\n\n{line}\n"


def place(line: str) -> Callable[[str], str]:
    return item if re.match(r"import|from|#|//|class|def|fn|use|block", line) else method


def cell(folder: Path, text: str) -> str:
    """The one finding of a text as the table shows it: code, place, way out."""
    file = folder / "habits.linnet"
    file.write_text(text)
    result = check_paths([file])
    (finding,) = [*result.sink] or lint(result.graph.modules, result.program)
    assert finding.span is not None
    at = text[finding.span.start : finding.span.end]
    said = finding.help or finding.message
    shown = f"[{finding.code}](diagnostics/{finding.code}.md) at `{at}`: {said}"
    return shown.replace("|", "\\|")


@pytest.mark.parametrize("row", HABITS, ids=[str(row[1]) for row in HABITS])
def test_habit(row: re.Match[str], tmp_path: Path) -> None:
    wrong, said, right = row[1], row[2].strip(), row[3]
    found = cell(tmp_path, place(wrong)(wrong))
    if os.environ.get("LINNET_GOLDEN") == "write":
        text = (DOCS / PAGE).read_text("utf-8")
        line = f"| `{wrong}` | {found} | `{right}` |"
        (DOCS / PAGE).write_text(text.replace(row[0], line), "utf-8")
    else:
        assert said == found
    file = tmp_path / "right.linnet"
    file.write_text(place(right)(right).replace("module habits", "module right"))
    # That nothing uses what a line names is no matter here.
    assert not [f for f in check_paths([file]).sink if f.severity == "error"]


def test_habits_are_read() -> None:
    assert len(HABITS) == 45


def test_the_library_has_what_the_page_names() -> None:
    modules = load_modules([DOCS.parent / "stdlib"], Sink()).modules
    public = {m.key: {i.name.text for i in m.tree.items if i.public} for m in modules}
    named = re.findall(r"(std\.[\w.]*\w)(?:::\{([\w, ]+)\})?", TEXT)
    assert named
    for module, names in named:
        assert set(filter(None, names.split(", "))) <= public[module]
