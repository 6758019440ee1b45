"""Computes what is known before a run: scalars of constants, in callees too.

    call(%c) {callee: f}       with %c = constant {value: "2.0"}, and f(%x) { %y = sqrt(%x) ... }
becomes
    call() {callee: f.2}       with f.2() { %y = constant {value: "1.4142135"} ... }

A function of which every result is a constant, and that does nothing else, is no longer called.
The numbers are those of the reference interpreter. Tensors are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from linnet.backends.numpy.dtypes import OF_NUMPY, Array, cast, constant, integer
from linnet.backends.numpy.elementwise import ELEMENTWISE
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import DType
from linnet.ir.builder import Builder
from linnet.ir.core import Function, Module, Operation, Value
from linnet.ir.ops import OPS
from linnet.ir.passes.bind import values_of
from linnet.ir.passes.rewrite import rewrite
from linnet.ir.walk import callees_first, operations, without_unreached

Known = Mapping[int, Array]
"""Constants by their place among parameters or results."""

_MOST = 20
"""Rounds: each carries constants one call further down, and results one further up."""


def fold_constants(
    module: Module, kept: Callable[[Function], bool], values: Mapping[Symbol, Dim]
) -> Module:
    """`module` with its constant scalars computed. Calls of the functions that `kept` names stay
    as they are: there is something else than their bodies for them.

    `values` are the entry's dimensions. One that is known counts as a constant where something is
    computed from it, and stays a dimension elsewhere.
    """
    folder = _Folder(dict(module.functions), kept, dict(values_of(module, values)))
    for _ in range(_MOST):
        if not folder.round(replace(module, functions=folder.functions)):
            break
    return without_unreached(replace(module, functions=folder.functions))


@dataclass(slots=True)
class _Folder:
    functions: dict[str, Function]
    kept: Callable[[Function], bool]
    numbers: dict[str, dict[Symbol, Dim]]
    _made: dict[tuple[str, tuple[tuple[int, DType, bytes], ...]], str] = field(
        default_factory=dict[tuple[str, tuple[tuple[int, DType, bytes], ...]], str]
    )

    def round(self, module: Module) -> bool:
        """One step down and up the calls; whether anything was found."""
        before = dict(self.functions)
        for name in callees_first(module):
            self.functions[name] = self._folded(self.functions[name])
        return any(self.functions[n] is not before.get(n) for n in self.functions)

    def _folded(self, function: Function) -> Function:
        known: dict[int, Array] = {}
        numbers = self.numbers.get(function.name, {})
        changed = False

        def change(op: Operation, builder: Builder) -> tuple[Value, ...] | None:
            nonlocal changed
            if op.name == "constant" and isinstance(op.results[0].type.dtype, DType):
                known[op.results[0].id] = constant(op.attrs["value"], op.results[0].type.dtype)
                return None
            if op.name == "dim":
                value = _number(op, numbers)
                if value is not None:
                    known[op.results[0].id] = value
                return None
            new = self._changed(op, builder, known)
            changed |= new is not None
            return new

        found = rewrite(function, change)
        return found if changed else function

    def _changed(
        self, op: Operation, builder: Builder, known: dict[int, Array]
    ) -> tuple[Value, ...] | None:
        if op.name == "call":
            return self._call(op, builder, known)
        if op.name == "if" and op.operands[0].id in known:
            region = op.regions[0 if known[op.operands[0].id] else 1]
            for inner in region.body:
                builder.append(inner)
            return region.yields
        scalar = bool(op.results) and op.results[0].type.dims is None
        if not scalar or not op.operands or any(o.id not in known for o in op.operands):
            return None
        value = _computed(op, [known[o.id] for o in op.operands])
        return None if value is None else (_constant(builder, value, op.results[0], known),)

    def _call(
        self, op: Operation, builder: Builder, known: dict[int, Array]
    ) -> tuple[Value, ...] | None:
        callee = self.functions[op.attrs["callee"]]
        if self.kept(callee):
            return None
        results = _results(callee)
        if results is not None:
            pairs = zip(results, op.results, strict=True)
            return tuple(_constant(builder, v, r, known) for v, r in pairs)
        # An integer that a dimension is stays one: it may be another at the next call.
        sizes = {o.results[0].id for o in builder.body if o.name == "dim"}
        given = {
            k: known[o.id]
            for k, o in enumerate(op.operands)
            if o.id in known and not (o.id in sizes and known[o.id].dtype.kind in "iu")
        }
        if not given:
            return None
        attrs = {**op.attrs, "callee": self._specialised(callee, given)}
        operands = tuple(o for k, o in enumerate(op.operands) if k not in given)
        builder.append(replace(op, operands=operands, attrs=attrs))
        return op.results

    def _specialised(self, callee: Function, given: Known) -> str:
        """The name of `callee` with constants in place of some parameters."""
        key = tuple((k, OF_NUMPY[v.dtype], v.tobytes()) for k, v in sorted(given.items()))
        name = self._made.get((callee.name, key))
        if name is None:
            name = self._made[callee.name, key] = self._free_name(callee.name)
            self.numbers[name] = self.numbers.get(callee.name, {})
            self.functions[name] = self._folded(_with(callee, name, given))
        return name

    def _free_name(self, callee: str) -> str:
        return next(n for k in count(2) if (n := f"{callee}.{k}") not in self.functions)


def _number(op: Operation, numbers: Mapping[Symbol, Dim]) -> Array | None:
    number = op.attrs["dim"].substitute(numbers).as_int()
    dtype = op.results[0].type.dtype
    return integer(number, dtype) if number is not None and isinstance(dtype, DType) else None


def _with(callee: Function, name: str, given: Known) -> Function:
    params = callee.params
    head = tuple(
        Operation("constant", (), (params[k],), {"value": _literal(v)}) for k, v in given.items()
    )
    left = tuple(p for k, p in enumerate(params) if k not in given)
    takes = tuple(
        replace(f, first=f.first - sum(k < f.first for k in given))
        for f in callee.takes
        if not any(f.first <= k < f.stop for k in given)
    )
    body = (*head, *callee.body)
    return replace(callee, name=name, op=None, params=left, body=body, takes=takes)


def _results(function: Function) -> tuple[Array, ...] | None:
    """What the function gives, if that is known and is all that it does."""
    made: dict[int, Array] = {}
    for op in operations(function.body):
        if OPS[op.name].effect != "none" or op.name in ("index", "gather"):
            return None
        if op.name == "constant" and isinstance(op.results[0].type.dtype, DType):
            made[op.results[0].id] = constant(op.attrs["value"], op.results[0].type.dtype)
    if not function.results or any(r.id not in made for r in function.results):
        return None
    return tuple(made[r.id] for r in function.results)


def _computed(op: Operation, values: list[Array]) -> Array | None:
    dtype = op.results[0].type.dtype
    if op.name == "cast" and isinstance(dtype, DType):
        return cast(values[0], dtype)
    if op.name in ELEMENTWISE:
        with np.errstate(all="ignore"):
            return np.asarray(ELEMENTWISE[op.name](*values))
    return None


def _constant(builder: Builder, value: Array, result: Value, known: dict[int, Array]) -> Value:
    attrs = {"value": _literal(value)}
    made = builder.emit("constant", [], result.type, attrs, hint=result.hint)
    known[made.id] = value
    return made


def _literal(value: Array) -> int | bool | str:
    """A constant of that value: the decimals of a float are all that it has."""
    item = value.item() if value.dtype.kind in "biuf" else float(value)
    if isinstance(item, bool | int):
        return item
    return repr(float(item))
