"""Items may depend on each other in long chains and large circles, declared in any order."""

from __future__ import annotations

from pathlib import Path

import pytest

from linnet.pipeline import check_paths
from linnet.source.diagnostics import Diagnostic

KINDS = {
    "const": ("const x{} = {} + 1", "1"),
    "alias": ("type x{} = {}", "f32"),
    "block": ("block x{} {{ sub a: {} pub fn f() -> f32 {{ return a.f() }} }}", "Leaf"),
    "function": ("fn x{}() -> i64 {{ return {}() }}", "leaf"),
    "default": ("fn x{}(a: i64 = {}()) -> i64 {{ return a }}", "leaf"),
}
LEAVES = (
    "fn leaf() -> i64 { return 1 }\nblock Leaf { param w: Tensor[1; f32]\n"
    "pub fn f() -> f32 { return w[0] } }\n"
)


def found(folder: Path, lines: list[str]) -> list[Diagnostic]:
    path = folder / "m.linnet"
    path.write_text(f"module m\n{LEAVES}" + "\n".join(lines))
    return list(check_paths([path]).sink)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_long_chain(tmp_path: Path, kind: str, backwards: bool) -> None:
    form, leaf = KINDS[kind]
    lines = [form.format(n + 100, f"x{n + 101}") for n in range(700)]
    lines.append(form.format(800, leaf))
    assert found(tmp_path, lines[::-1] if backwards else lines) == []


@pytest.mark.parametrize("length", [1, 2, 12, 13, 400])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_circle_of_any_length_is_one_mistake(tmp_path: Path, kind: str, length: int) -> None:
    form, _ = KINDS[kind]
    lines = [form.format(n + 100, f"x{(n + 1) % length + 100}") for n in range(length)]
    (finding,) = found(tmp_path, lines)
    assert finding.code == ("E2119" if kind in ("function", "default") else "E2122")
    assert finding.message.startswith("`x100` ")


def test_a_broken_constant_is_looked_at_once(tmp_path: Path) -> None:
    """Each of these mentions the next one twice: together a thousand million ways down."""
    lines = [f"const x{n + 100} = x{n + 101} + x{n + 101}" for n in range(30)]
    (finding,) = found(tmp_path, [*lines, "const x130 = missing"])
    assert finding.code == "E1201"


@pytest.mark.parametrize(
    "form",
    ["struct x{0} {{ a: x{1} b: x{1} }}", "type x{0} = (x{1}, x{1})", "struct x{0} {{ a: x{1} }}"],
)
def test_a_type_has_a_limit(tmp_path: Path, form: str) -> None:
    def chain(length: int) -> list[str]:
        lines = [form.format(n, n + 1) for n in range(100, 100 + length)]
        use = "fn f(a: x100) -> x100 { return a }"
        return [*lines, f"type x{100 + length} = f32", use]

    assert found(tmp_path, chain(7)) == []
    findings = found(tmp_path, chain(45))
    assert findings and {f.code for f in findings} == {"E1104"}
    assert "more than 1000 parts, or nested deeper than 40" in findings[0].message
