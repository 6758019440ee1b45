"""Values: what an accepted program gives for some inputs, as a comment of it says.

    //= f(x = [1.0, 2.0, 3.0]) == [2.0, 4.0, 6.0]
    //= g(n = 2, S = [3], T = f16) == (1.5, [true, false, true])
    //= B(N = 2, **{"inner.weight": [1.0, 0.5]}).step(x = [1.0, 1.0]).step(x = none) == [2.0, 1.0]

The left side names a function with its arguments, among them generics that no argument settles;
or a block with its generics and weights, and entries that are called one after the other, of
which the last gives the value. A struct is written as the dict of its fields, an enum's variant by
its name. The right side was computed by hand, or in NumPy, never by Linnet.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from linnet.backends.base import Compiled, Given, Runtime, Stored
from linnet.backends.contract import Sources
from linnet.backends.numpy.dtypes import NUMPY
from linnet.check.typed import Program, TFunction
from linnet.check.types import EnumType, OptionalType, StructType, TupleType
from linnet.check.types import Type as CheckType
from linnet.dims.prover import Facts
from linnet.dtypes import BY_NAME
from linnet.ir.core import Module
from linnet.ir.verify import verify
from linnet.lower.bindings import GenericValue
from linnet.lower.instances import parameters
from linnet.lower.module import (
    AsWritten,
    lower_entry,
    lower_entry_as_written,
    lower_function,
    lower_function_as_written,
)
from linnet.lower.outline import outline_of
from tests.backends.each import load, to_numpy
from tests.backends.written import NO_BLOCK

MARK = "//="
NUMPY_DTYPES = {str(dtype): numpy for dtype, numpy in NUMPY.items()}
NAMES = {"none": None, "true": True, "false": False, "inf": np.inf}
Array = NDArray[np.generic]
Arguments = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A name and its arguments."""

    name: str
    arguments: Arguments


@dataclass(frozen=True)
class Said:
    """A line of a program: the calls, the last of which gives `value`."""

    line: str
    calls: tuple[Call, ...]
    value: Any

    @property
    def runs(self) -> str:
        """What is run: a function, or the entry of a block."""
        return ".".join(call.name for call in (*self.calls[:1], *self.calls[1:][-1:]))


def said_in(path: Path) -> list[Said]:
    """The values that a program states."""
    lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    return [_said(line[len(MARK) :].strip()) for line in lines if line.startswith(MARK)]


def _said(line: str) -> Said:
    tree = ast.parse(line, mode="eval").body
    assert isinstance(tree, ast.Compare) and isinstance(tree.ops[0], ast.Eq), line
    return Said(line, tuple(_calls(tree.left)), _literal(tree.comparators[0]))


def _calls(tree: ast.expr) -> list[Call]:
    assert isinstance(tree, ast.Call) and not tree.args, ast.unparse(tree)
    arguments: Arguments = {}
    for keyword in tree.keywords:
        value = _literal(keyword.value)
        arguments |= value if keyword.arg is None else {keyword.arg: value}
    if isinstance(tree.func, ast.Attribute):
        return [*_calls(tree.func.value), Call(tree.func.attr, arguments)]
    assert isinstance(tree.func, ast.Name), ast.unparse(tree)
    return [Call(tree.func.id, arguments)]


def _literal(tree: ast.expr) -> Any:
    match tree:
        case ast.Name(name):
            return NAMES.get(name, name)
        case ast.List(items):
            return [_literal(item) for item in items]
        case ast.Tuple(items):
            return tuple(_literal(item) for item in items)
        case ast.Dict(keys, values):
            names = [ast.literal_eval(key) for key in keys if key is not None]
            return dict(zip(names, map(_literal, values), strict=True))
        case ast.UnaryOp(ast.USub(), operand):
            return -_literal(operand)
        case ast.BinOp(left, ast.Mult(), right):
            return _literal(left) * _literal(right)
        case ast.BinOp(left, ast.Add(), right):
            return _literal(left) + _literal(right)
        case _:
            return ast.literal_eval(tree)


def run(program: Program, module: str, said: Said, backend: str) -> tuple[list[Array], list[Array]]:
    """What the program really gives, by lowering and the backend, and what it says."""
    first, *entries = said.calls
    key = f"{module}::{first.name}"
    if not entries:
        function = program.functions[key]
        found = _function(program, function, first.arguments, backend)
    else:
        function = program.functions[program.blocks[key].methods[entries[-1].name]]
        found = _entries(program, key, first.arguments, entries, backend)
    told = _leaves(said.value, function.result)
    return found, [np.asarray(t, f.dtype) for t, f in zip(told, found, strict=True)]


def _function(
    program: Program, function: TFunction, arguments: Arguments, backend: str
) -> list[Array]:
    names = {g.name for g in function.generics}
    generics = {name: value for name, value in arguments.items() if name in names}

    def lower(_: str, given: Given) -> Module:
        module = lower_function(program, function.key, generics, dict(given))
        verify(module, Facts(function.facts))
        return module

    def write(_: str, given: Given) -> AsWritten:
        return lower_function_as_written(program, function.key, generics, dict(given))

    sources = Sources(write, lambda: (NO_BLOCK, {}))
    runtime = load(backend, Compiled("golden", (function.key,), lower, {}, (), sources))
    inputs = {name: value for name, value in arguments.items() if name not in names}
    return _called(runtime, function, function.key, lower, inputs)


def _entries(
    program: Program, root: str, arguments: Arguments, entries: list[Call], backend: str
) -> list[Array]:
    block = program.blocks[root]
    names = {g.name for g in block.generics}
    generics = cast("Mapping[str, GenericValue]", {n: arguments[n] for n in names & {*arguments}})
    given_weights = {n: value for n, value in arguments.items() if n not in names}
    stored = {i.path: i for i in parameters(program, root, generics)}
    assert given_weights.keys() <= stored.keys(), given_weights

    def present(path: str) -> bool:
        return any(name == path or name.startswith(f"{path}.") for name in given_weights)

    def lower(entry: str, given: Given) -> Module:
        module = lower_entry(program, root, generics, entry, present, dict(given))
        verify(module, Facts(block.facts))
        return module

    weights = {
        path: _array(value, stored[path].dtype, stored[path].shape)
        for path, value in given_weights.items()
    }
    states = tuple(
        Stored(i.path, i.shape, BY_NAME[i.dtype]) for i in stored.values() if i.kind == "state"
    )
    sources = Sources(
        lambda entry, given: lower_entry_as_written(
            program, root, generics, entry, present, dict(given)
        ),
        lambda: outline_of(program, root, generics, present),
    )
    compiled = Compiled("golden", tuple(block.methods), lower, weights, states, sources)
    runtime = load(backend, compiled)
    values: list[Array] = []
    for call in entries:
        function = program.functions[block.methods[call.name]]
        values = _called(runtime, function, call.name, lower, call.arguments)
    return values


def _called(
    runtime: Runtime, function: TFunction, entry: str, lower: Any, arguments: Arguments
) -> list[Array]:
    """The results; each must be of the dtype and shape that the function declares."""
    given: list[tuple[str, bool]] = []
    flat: list[Any] = []
    assert arguments.keys() <= {p.local.name for p in function.params}, arguments
    for param in function.params:
        name = param.local.name
        if name in arguments:
            given.append((name, arguments[name] is not None))
            flat.extend(_leaves(arguments[name], param.local.type))
    module: Module = lower(entry, tuple(given))
    top = module.functions[module.entry]
    inputs = [
        _array(value, str(p.type.dtype), None) for value, p in zip(flat, top.params, strict=True)
    ]
    results = [to_numpy(r) for r in runtime.call(entry, inputs, tuple(given))]
    for result, value in zip(results, top.results, strict=True):
        assert result.dtype == _numpy(str(value.type.dtype)), value
    return results


def _leaves(value: Any, type_: CheckType) -> list[Any]:
    """The arrays that an argument is made of."""
    match type_:
        case OptionalType(inner):
            return [] if value is None else _leaves(value, inner)
        case StructType():
            assert {*value} == {name for name, _ in type_.fields}, value
            return [leaf for name, t in type_.fields for leaf in _leaves(value[name], t)]
        case TupleType(items):
            return [leaf for v, t in zip(value, items, strict=True) for leaf in _leaves(v, t)]
        case EnumType(_, variants):
            return [variants.index(value)]
        case _:
            return [value]


def _array(value: Any, dtype: str, shape: tuple[int, ...] | None) -> Array:
    array = np.asarray(value, _numpy(dtype))
    return array if shape is None or array.size else array.reshape(shape)


def _numpy(dtype: str) -> np.dtype[Any]:
    return NUMPY_DTYPES[dtype]
