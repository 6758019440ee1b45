"""What holds of all records: they name ops that there are, and functions that can stand alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from linnet.backends.kernels import TIERS
from tests.backends.torch.kernels.harness import library

pytest.importorskip("torch")

FUNCTIONS = Path(__file__).parents[4] / "backends" / "torch" / "kernels" / "functions"
FILES = sorted(FUNCTIONS.glob("*.py"))


def test_ops_are_of_the_library() -> None:
    from linnet.backends.torch.kernels import KERNELS

    functions = library().functions
    assert {k.op for k in KERNELS} <= {key for key, f in functions.items() if f.kind == "op"}
    assert len({(k.op, k.name) for k in KERNELS}) == len(KERNELS)
    assert {k.tier for k in KERNELS} <= set(TIERS)


def test_what_overwrites_names_a_parameter_of_its_op() -> None:
    from linnet.backends.torch.kernels import KERNELS

    functions = library().functions
    writing = [k for k in KERNELS if k.in_place is not None or k.emit_in_place is not None]
    assert len(writing) == 6
    for kernel in writing:
        assert kernel.emit_in_place is not None
        assert kernel.in_place in {p.local.name for p in functions[kernel.op].params}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_files_of_functions_import_the_framework_alone(path: Path) -> None:
    allowed = {"torch", "typing", "collections", "concurrent", "__future__"}
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {a.name.partition(".")[0] for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or ".").partition(".")[0])
    assert found <= allowed


def test_files_of_functions_share_no_name() -> None:
    owner: dict[str, str] = {}
    for path in FILES:
        for node in ast.parse(path.read_text("utf-8")).body:
            names = []
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names = [node.name]
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [t.id for t in targets if isinstance(t, ast.Name)]
            for name in names:
                assert owner.setdefault(name, path.stem) == path.stem, name
