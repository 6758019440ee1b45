"""Dimensions as Python expressions on integers."""

from __future__ import annotations

from collections.abc import Callable

from linnet.backends.code import Code, call, infix, name, prefix
from linnet.dims.atoms import Maximum, Minimum, Product, Quotient, Remainder, sorted_dims
from linnet.dims.dims import Atom, Dim, Symbol


def dim_code(dim: Dim, symbols: Callable[[Symbol], Code]) -> Code:
    """`dim` with a positive term in front, if there is one."""
    ordered = sorted(dim.terms, key=lambda term: term[1] < 0)
    if not ordered:
        return name("0", "literal")
    total: Code | None = None
    for monomial, c in ordered:
        factors = [_atom(a, symbols) for a in monomial]
        size = c if total is None and not monomial else abs(c)
        if size != 1 or not factors:
            factors.insert(0, name(str(size)))
        term = factors[0]
        for factor in factors[1:]:
            term = infix(term, "*", factor)
        if total is None:
            total = prefix("-", term) if c < 0 and monomial else term
        else:
            total = infix(total, "-" if c < 0 else "+", term)
    assert total is not None
    kind = "literal" if dim.as_int() is not None else "number"
    return Code(total.text, total.functions, total.binds, kind)


def _atom(atom: Atom, symbols: Callable[[Symbol], Code]) -> Code:
    match atom:
        case Symbol():
            return symbols(atom)
        case Quotient():
            return infix(dim_code(atom.num, symbols), "//", dim_code(atom.den, symbols))
        case Remainder():
            return infix(dim_code(atom.num, symbols), "%", dim_code(atom.den, symbols))
        case Minimum() | Maximum():
            least = isinstance(atom, Minimum)
            parts = [dim_code(d, symbols) for d in sorted_dims(atom.args)]
            return call("min" if least else "max", *parts)
        case Product():
            first, second = (dim_code(d, symbols) for d in atom.args)
            return infix(first, "*", second)
