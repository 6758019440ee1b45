"""Questions about the scalar expression that index notation becomes, and parts of it alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from linnet.ir.scalar import Access, Apply, Index, Operand, Reduce, Scalar, inside_out, walk


def indices_of(scalar: Scalar) -> frozenset[int]:
    """The indices that `scalar` depends on, those that it binds left out."""
    used: set[int] = set()
    bound: set[int] = set()
    for found in walk(scalar):
        if isinstance(found, Index):
            used.add(found.index)
        elif isinstance(found, Reduce):
            bound.update(index for index, _ in found.indices)
    return frozenset(used - bound)


def operands_of(scalar: Scalar) -> list[int]:
    """The operands that `scalar` reads, ascending."""
    return sorted({e.operand for e in walk(scalar) if isinstance(e, Operand | Access)})


def bound_in(scalar: Scalar) -> list[int]:
    """The indices that `scalar` binds, ascending."""
    reductions = (e for e in walk(scalar) if isinstance(e, Reduce))
    return sorted({index for reduction in reductions for index, _ in reduction.indices})


def renumbered(scalar: Scalar, indices: Mapping[int, int], operands: Mapping[int, int]) -> Scalar:
    """`scalar` with other numbers for its indices and operands."""
    made: dict[int, Scalar] = {}
    for found in inside_out(scalar):
        made[id(found)] = _renumbered(found, indices, operands, made)
    return made[id(scalar)]


def _renumbered(
    scalar: Scalar,
    indices: Mapping[int, int],
    operands: Mapping[int, int],
    made: Mapping[int, Scalar],
) -> Scalar:
    match scalar:
        case Index():
            return replace(scalar, index=indices[scalar.index])
        case Operand():
            return replace(scalar, operand=operands[scalar.operand])
        case Access():
            positions = tuple(made[id(p)] for p in scalar.positions)
            return replace(scalar, operand=operands[scalar.operand], positions=positions)
        case Apply():
            return replace(scalar, args=tuple(made[id(a)] for a in scalar.args))
        case Reduce():
            bound = tuple((indices[index], extent) for index, extent in scalar.indices)
            factors = tuple(made[id(f)] for f in scalar.factors)
            return replace(scalar, indices=bound, factors=factors)
        case _:
            return scalar
