"""Dimensions as a person would write them, in Linnet's syntax."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnet.dims.atoms import (
    Atom,
    Maximum,
    Minimum,
    Monomial,
    Product,
    Quotient,
    Remainder,
    Symbol,
    sorted_dims,
)

if TYPE_CHECKING:
    from linnet.dims.dims import Dim


def dim_text(dim: Dim) -> str:
    """`dim` with a positive term in front, if there is one."""
    ordered = list(dim.terms)
    positive = next((i for i, (_, c) in enumerate(ordered) if c > 0), 0)
    if positive:
        ordered.insert(0, ordered.pop(positive))
    text = ""
    for monomial, c in ordered:
        sign = "-" if c < 0 else "+"
        if text:
            text += f" {sign} {_term_text(monomial, abs(c))}"
        elif c < 0:
            text = f"-{_term_text(monomial, -c, negated=True)}"
        else:
            text = _term_text(monomial, c)
    return text or "0"


def _term_text(monomial: Monomial, c: int, *, negated: bool = False) -> str:
    """A product; `/` and `%` stand bare only where nothing to their left binds first."""
    factors = [str(c)] if c != 1 or not monomial else []
    for atom in monomial:
        text = _atom_text(atom)
        tight = not isinstance(atom, Quotient | Remainder) or not (factors or negated)
        factors.append(text if tight else f"({text})")
    return " * ".join(factors)


def _atom_text(atom: Atom) -> str:
    match atom:
        case Symbol():
            return atom.name
        case Quotient():
            return f"{_operand(atom.num)} / {_operand(atom.den, divisor=True)}"
        case Remainder():
            return f"{_operand(atom.num)} % {_operand(atom.den, divisor=True)}"
        case Minimum():
            return f"min({', '.join(map(str, sorted_dims(atom.args)))})"
        case Maximum():
            return f"max({', '.join(map(str, sorted_dims(atom.args)))})"
        case Product():
            first, second = atom.args
            return f"({_operand(first)} * {_operand(second, divisor=True)})"


def _operand(dim: Dim, *, divisor: bool = False) -> str:
    """`dim` beside `/` or `%`, which bind as `*` does, from the left."""
    atom = dim.as_atom()
    bare = len(dim.terms) <= 1 and all(c > 0 for _, c in dim.terms)
    if divisor:
        bare = dim.as_int() is not None or isinstance(atom, Symbol | Minimum | Maximum)
    return str(dim) if bare else f"({dim})"
