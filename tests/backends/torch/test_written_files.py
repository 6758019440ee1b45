"""Generated files: they lint, they do not grow with a model, and small ones are pinned.

`LINNET_GOLDEN=write pytest tests/backends/torch/test_written_files.py` rewrites `golden/torch`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from linnet import nest
from linnet.backends.contract import Given, Sources
from linnet.backends.torch.emit.layout import WIDTH
from linnet.backends.torch.emit.module import Selecting
from linnet.backends.torch.generated import Generated
from linnet.backends.torch.kernels import KERNELS
from linnet.check.typed import Program
from linnet.lower.module import AsWritten, lower_entry_as_written
from linnet.lower.outline import outline_of
from linnet.pipeline import check_paths

GOLDEN = Path(__file__).parents[2] / "golden" / "torch"
CASES = sorted(GOLDEN.glob("*.linnet"))


def gpt_oss(layers: int, numerics: Any = "fast") -> str:
    model = nest.load(
        "gpt-oss-20b",
        backend="torch",
        weights="random",
        tiny=True,
        generics={"Layers": layers},
        numerics=numerics,
        progress=False,
    )
    text: str = model.source()
    return text


@pytest.fixture(scope="module")
def of_24() -> str:
    return gpt_oss(24)


def lints(folder: Path) -> None:
    ruff = shutil.which("ruff") or shutil.which("ruff", path=str(Path(sys.executable).parent))
    if ruff is None:
        pytest.skip("ruff is not installed")
    check = ["check"]
    laid_out = ["format", "--diff", "--config", f"line-length={WIDTH}"]
    for how in (check, laid_out):
        command = [ruff, *how, "--isolated", "--no-cache", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("numerics", ["exact", "fast"])
def test_gpt_oss_lints(numerics: str, tmp_path: Path, of_24: str) -> None:
    text = of_24 if numerics == "fast" else gpt_oss(2, numerics)
    (tmp_path / "gpt_oss.py").write_text(text)
    lints(tmp_path)


def test_gpt_oss_is_a_file_that_a_person_can_read(of_24: str) -> None:
    assert len(of_24.splitlines()) < 700
    assert "\nclass LinearWithoutBias(nn.Module):" in of_24
    assert not re.search(r"^(class|def) \w+_\d", of_24, re.MULTILINE)


@pytest.mark.parametrize("layers", [2, 8])
def test_a_file_does_not_grow_with_the_layers(layers: int, of_24: str) -> None:
    lines = zip(gpt_oss(layers).splitlines(), of_24.splitlines(), strict=True)
    differ = [(mine, its) for mine, its in lines if mine != its]
    ((mine, its),) = differ
    assert mine.replace(f"layers={layers}", "") == its.replace("layers=24", "")
    assert not re.search(r"layers?[._\[]\d|pairs[._\[]\d", of_24)


# --- small models ------------------------------------------------------------


def written(case: Path) -> str:
    """The source of all entries of `Model`, its generics as the second line of `case` says."""
    result = check_paths([case])
    assert not list(result.sink)
    program: Program = result.program
    root = "case::Model"
    words = re.findall(r"(\w+)=(\w+)", case.read_text().splitlines()[1])
    generics = {n: int(v) if v.isdecimal() else v for n, v in words}

    def lower(entry: str, given: Given) -> AsWritten:
        return lower_entry_as_written(
            program, root, generics, entry, lambda _: True, dict(given) if given else None
        )

    sources = Sources(lower, lambda: outline_of(program, root, generics, lambda _: True))
    entries = tuple(
        n for n, k in program.blocks[root].methods.items() if program.functions[k].kind == "entry"
    )
    return Generated(case.stem, entries, sources, Selecting(KERNELS, "exact", "cpu")).source()


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.stem)
def test_small_models_are_written_as_they_were(case: Path) -> None:
    text = written(case)
    expected = case.with_suffix(".py")
    if os.environ.get("LINNET_GOLDEN") == "write":
        expected.write_text(text)
    assert text == expected.read_text()


def test_small_models_lint() -> None:
    assert len(CASES) >= 2
    lints(GOLDEN)
