"""Replacing generics in types, shapes and relations."""

from __future__ import annotations

from collections.abc import Mapping

from linnet.check.types import (
    EnumType,
    ErrorType,
    GenericArg,
    LiteralType,
    OptionalType,
    ScalarType,
    Shape,
    StructType,
    TensorType,
    TupleType,
    Type,
)
from linnet.dims.counts import product
from linnet.dims.dims import Dim, Symbol
from linnet.dims.prover import Relation
from linnet.dtypes import AnyDType, DTypeVar

Bindings = Mapping[Symbol | DTypeVar, GenericArg]


def dim_bindings(bindings: Bindings) -> dict[Symbol, Dim]:
    """The bindings as the prover's terms see them; a pack is its element count there."""
    out: dict[Symbol, Dim] = {}
    for binder, arg in bindings.items():
        if isinstance(binder, Symbol):
            out[binder] = product(arg) if isinstance(arg, tuple) else _as_dim(arg)
    return out


def _as_dim(arg: GenericArg) -> Dim:
    assert isinstance(arg, Dim)
    return arg


def in_dim(dim: Dim, bindings: Bindings) -> Dim:
    return dim.substitute(dim_bindings(bindings))


def in_shape(shape: Shape, bindings: Bindings) -> Shape:
    table = dim_bindings(bindings)
    out: list[Dim | Symbol] = []
    for extent in shape:
        if isinstance(extent, Symbol):
            bound = bindings.get(extent)
            out.extend(bound if isinstance(bound, tuple) else (extent,))
        else:
            out.append(extent.substitute(table))
    return tuple(out)


def in_dtype(dtype: AnyDType, bindings: Bindings) -> AnyDType:
    if isinstance(dtype, DTypeVar):
        bound = bindings.get(dtype, dtype)
        assert not isinstance(bound, Dim | tuple)
        return bound
    return dtype


def in_arg(arg: GenericArg, bindings: Bindings) -> GenericArg:
    if isinstance(arg, Dim):
        return in_dim(arg, bindings)
    return in_shape(arg, bindings) if isinstance(arg, tuple) else in_dtype(arg, bindings)


def in_type(type_: Type, bindings: Bindings) -> Type:
    match type_:
        case ScalarType(dtype):
            return ScalarType(in_dtype(dtype, bindings))
        case TensorType(dims, dtype):
            shape = in_shape(dims, bindings)
            dtype = in_dtype(dtype, bindings)
            return TensorType(shape, dtype) if shape else ScalarType(dtype)
        case OptionalType(inner):
            return OptionalType(in_type(inner, bindings))
        case TupleType(items):
            return TupleType(tuple(in_type(t, bindings) for t in items))
        case StructType(key, args, fields):
            return StructType(
                key,
                tuple(in_arg(a, bindings) for a in args),
                tuple((n, in_type(t, bindings)) for n, t in fields),
            )
        case EnumType() | LiteralType() | ErrorType():
            return type_


def in_relation(relation: Relation, bindings: Bindings) -> Relation:
    return relation.substitute(dim_bindings(bindings))


def binders(type_: Type) -> list[Symbol | DTypeVar]:
    """The generics that occur in `type_`."""
    match type_:
        case ScalarType(dtype):
            return [dtype] if isinstance(dtype, DTypeVar) else []
        case TensorType(dims, dtype):
            return [*_binders_of(dims), *_binders_of(dtype)]
        case OptionalType(inner):
            return binders(inner)
        case TupleType(items):
            return [b for t in items for b in binders(t)]
        case StructType(args=args):
            return [b for a in args for b in _binders_of(a)]
        case EnumType() | LiteralType() | ErrorType():
            return []


def _binders_of(arg: GenericArg) -> list[Symbol | DTypeVar]:
    if isinstance(arg, tuple):
        return [b for d in arg for b in ([d] if isinstance(d, Symbol) else d.symbols())]
    if isinstance(arg, Dim):
        return list(arg.symbols())
    return [arg] if isinstance(arg, DTypeVar) else []
