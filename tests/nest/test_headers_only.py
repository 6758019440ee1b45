"""What does not fit is found in the headers: no tensor of a checkpoint is mapped for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import pytest

from linnet import nest
from linnet.cli.main import main
from linnet.nest import checkpoint
from linnet.source.errors import LinnetError

FIXTURE = Path(__file__).parents[2] / ".." / "shared" / "fixtures" / "gpt-oss-tiny"

pytestmark = pytest.mark.skipif(not FIXTURE.exists(), reason="../shared is absent")


class DataReadError(Exception):
    pass


@pytest.fixture
def generics(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Those of the fixture, for a process that cannot map a file."""

    def refuse(*_args: Any, **_options: Any) -> NoReturn:
        raise DataReadError

    monkeypatch.setattr(checkpoint.mmap, "mmap", refuse)
    return json.loads((FIXTURE / "fixture.json").read_text("utf-8"))["generics"]


@pytest.mark.parametrize(
    ("changed", "cast_dtype"), [({"H": 96}, False), ({"Layers": 6}, True), ({"T": "f32"}, False)]
)
def test_a_refused_checkpoint(
    generics: dict[str, Any], changed: dict[str, Any], cast_dtype: bool
) -> None:
    options: dict[str, Any] = {"backend": "numpy", "weights": FIXTURE, "cast_dtype": cast_dtype}
    with pytest.raises(LinnetError) as caught:
        nest.load("gpt-oss-20b", generics=generics | changed, **options)
    assert {d.code for d in caught.value.diagnostics} == {"E5002"}


def test_a_checkpoint_that_fits(generics: dict[str, Any]) -> None:
    sets = [w for name, value in generics.items() for w in ("--set", f"{name}={value}")]
    assert main(["nest", "check", "gpt-oss-20b", "--weights", str(FIXTURE), *sets]) == 0


def test_loading_does_read(generics: dict[str, Any]) -> None:
    with pytest.raises(DataReadError):
        nest.load("gpt-oss-20b", backend="numpy", generics=generics, weights=FIXTURE)
