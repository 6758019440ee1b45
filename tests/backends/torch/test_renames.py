"""The tensor's name of each parameter, as code that stands in a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from linnet.backends.torch.emit.renames import state_dict_from

ROOT = Path(__file__).parents[3]


class _Named(Mapping[str, str]):
    """A checkpoint in which each tensor is its name."""

    def __getitem__(self, name: str) -> str:
        return name

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def renamed(names: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The code, and the name that it takes for each path."""
    text = "\n".join(state_dict_from(names))
    space: dict[str, Any] = {}
    exec(compile("from __future__ import annotations\n" + text, "renames", "exec"), space)
    return text, space["state_dict_from"](_Named())


def test_the_names_of_the_shipped_card_are_a_loop_without_numbers_of_layers() -> None:
    path = ROOT / "models" / "gpt-oss-20b" / "bindings.json"
    names: dict[str, str] = json.loads(path.read_text("utf-8"))
    text, found = renamed(names)
    assert found == names
    assert "for i in range(12):" in text
    assert "{2 * i + 1}" in text
    assert "layers.1" not in text
    assert len(text.splitlines()) < 90 < len(names)


@pytest.mark.parametrize(
    "names",
    [
        {"w": "v"},
        {"a.0.w": "b.1.w", "a.1.w": "b.4.w", "a.2.w": "b.9.w"},
        {"a.0.w": "b5", "a.1.w": "b4", "a.2.w": "b3"},
        {"a.0.w": "b01", "a.1.w": "b02"},
        {"a.0.w": "b.0.w", "a.2.w": "b.2.w"},
        {"a.0.w": "x.0.w", "a.1.w": "y.1.w"},
        {f"a.{i}.b.{j}.w": f"c.{10 * i + j}.w" for i in range(2) for j in range(3)},
        {f"a.{i}.b2.w": f"c.{i}.b2.w" for i in range(3)},
        {"a.0.w": "one", "a.1.w": "one"},
    ],
)
def test_every_rule_gives_the_names_that_it_was_made_of(names: dict[str, str]) -> None:
    assert renamed(names)[1] == names


@pytest.mark.parametrize("odd", ['"', "'", "\\", "{x}", "}", "\n", "é", '"""', "\\N{DIGIT ONE}"])
def test_no_name_ends_its_quotes(odd: str) -> None:
    names = {f"a.{i}.{odd}.w": f"b{odd}.{i}.{odd}.w" for i in range(3)} | {odd: f"c{odd}"}
    text, found = renamed(names)
    assert found == names
    assert text.isascii() and "\nfor" not in text
