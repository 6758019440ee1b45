"""The reference interpreter: the tensor IR, operation by operation.

`docs/ir.md` says what each operation means and this is the same in NumPy: plain, no
fusion. Scalars are arrays of rank 0. No array is changed once made. A value is let go
after its last use, so a run holds what is live and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from linnet.backends.base import RuntimeFault
from linnet.backends.numpy import contraction, structure
from linnet.backends.numpy.dtypes import NUMPY, Array, cast, concrete, constant, integer
from linnet.backends.numpy.elementwise import ELEMENTWISE
from linnet.backends.numpy.frame import Frame, Path, Run, bind_symbols
from linnet.backends.numpy.liveness import Deaths, deaths
from linnet.dims.dims import Symbol
from linnet.dtypes import DType
from linnet.ir.core import Function, Module, Operation, Region, Value
from linnet.ir.passes.vectorize import vectorize


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A module made ready to run any number of times."""

    module: Module
    deaths: Deaths

    @staticmethod
    def of(module: Module) -> Interpreter:
        """`module` without `indexed` operations, with the deaths of its values."""
        plain = vectorize(module)
        return Interpreter(plain, deaths(plain))

    def run(
        self,
        args: Sequence[Array],
        *,
        weights: Mapping[str, Array] | None = None,
        state: MutableMapping[str, Array] | None = None,
        symbols: Mapping[Symbol, int] | None = None,
    ) -> list[Array]:
        """The results of the entry. The extents of `args` bind the module's symbols, beside
        those in `symbols`; `state` is read and replaced. Paths are dotted."""
        entry = self.module.functions[self.module.entry]
        values = [np.asarray(a) for a in args]
        bound = bind_symbols([p.type for p in entry.params], values, symbols or {})
        held: MutableMapping[str, Array] = {} if state is None else state
        stored: Mapping[str, Array] = {} if weights is None else weights
        shared = Run(self.module, self.deaths, bound, stored, held)
        with np.errstate(all="ignore"):
            return _finish(_call(shared, entry, values, ()))


def run(
    module: Module,
    args: Sequence[Array],
    *,
    weights: Mapping[str, Array] | None = None,
    state: MutableMapping[str, Array] | None = None,
    symbols: Mapping[Symbol, int] | None = None,
) -> list[Array]:
    """`module` run once; see `Interpreter.run`."""
    return Interpreter.of(module).run(args, weights=weights, state=state, symbols=symbols)


# --- bodies ------------------------------------------------------------------

Task = Generator["Task", list[Array], list[Array]]
"""A body that is being run: it yields another whose results it waits for. So calls of any
depth need no deep stack."""


def _finish(first: Task) -> list[Array]:
    """What `first` gives."""
    waiting = [first]
    step = partial(next, first)
    while True:
        try:
            waiting.append(step())
            step = partial(next, waiting[-1])
        except StopIteration as done:
            waiting.pop()
            if not waiting:
                return done.value
            step = partial(waiting[-1].send, done.value)
        except RuntimeFault as fault:
            waiting.pop()
            if not waiting:
                raise
            step = partial(waiting[-1].throw, fault)


def _call(shared: Run, function: Function, args: list[Array], prefix: Path) -> Task:
    frame = Frame(shared, prefix, {p.id: a for p, a in zip(function.params, args, strict=True)})
    args.clear()
    return _body(frame, function.body, function.results)


def _region(frame: Frame, region: Region, args: Sequence[Array]) -> Task:
    frame.values.update((p.id, a) for p, a in zip(region.params, args, strict=True))
    return _body(frame, region.body, region.yields)


def _body(frame: Frame, body: tuple[Operation, ...], yields: tuple[Value, ...]) -> Task:
    values = frame.values
    for operation, death in zip(body, frame.run.deaths[id(body)], strict=True):
        operands = [values[v.id] for v in operation.operands]
        for value in death.before:
            values.pop(value, None)
        try:
            if operation.name in STRUCTURE:
                found = yield STRUCTURE[operation.name](frame, operation, operands)
            else:
                found = DISPATCH[operation.name](frame, operation, operands)
        except RuntimeFault as fault:
            fault.place = fault.place or operation.place
            raise
        for value, result in zip(operation.results, found, strict=True):
            values[value.id] = result
        found.clear()  # who gave it may still hold it
        for value in death.after:
            values.pop(value, None)
    return [values[v.id] for v in yields]


# --- operations --------------------------------------------------------------


def _result(operation: Operation) -> DType:
    return concrete(operation.results[0].type.dtype)


def _constant(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    return [constant(op.attrs["value"], _result(op))]


def _dim(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    return [integer(frame.extent(op.attrs["dim"]), _result(op))]


def _iota(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    (extent,) = frame.shape(op.results[0].type)
    return [cast(np.arange(extent, dtype=np.int64), _result(op))]


def _fill(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    return [np.broadcast_to(args[0], frame.shape(op.results[0].type))]


def _cast(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    return [cast(args[0], _result(op))]


def _reshape(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    return [args[0].reshape(frame.shape(op.results[0].type))]


def _permute(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    return [np.transpose(args[0], op.attrs["axes"])]


def _broadcast(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    shape = frame.shape(op.results[0].type)
    return [structure.broadcast(args[0], op.attrs["axes"], shape)]


def _concat(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    return [np.concatenate(args, axis=op.attrs["axis"])]


def _slice(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    start, stop = ([frame.extent(d) for d in op.attrs[name]] for name in ("start", "stop"))
    return [structure.cut(args[0], start, stop, op.attrs["step"])]


def _index(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    return [structure.index(args[0], args[1:], op.attrs["axes"])]


def _gather(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    shape = frame.shape(op.results[0].type)
    return [structure.gather(args[0], args[1:], op.attrs["axes"], shape)]


def _reduce(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    accumulator = concrete(op.attrs["accumulator"])
    return [contraction.reduce(args[0], op.attrs["op"], tuple(op.attrs["axes"]), accumulator)]


def _contract(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    accumulator = concrete(op.attrs["accumulator"])
    inputs, output = op.attrs["inputs"], op.attrs["output"]
    return [contraction.contract(args, inputs, output, accumulator, _result(op))]


def _cumsum(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    accumulator = concrete(op.attrs["accumulator"])
    return [contraction.cumsum(args[0], op.attrs["axis"], accumulator)]


def _param(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    path = ".".join(frame.path(op.attrs["path"]))
    if path not in frame.run.weights:
        raise RuntimeFault(f"there is no weight `{path}`", "E5002")
    return [_fitting(frame, op.results[0], path, frame.run.weights[path])]


def _state_read(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    path = ".".join(frame.path(op.attrs["path"]))
    held = frame.run.state.get(path)
    if held is None:
        dtype = NUMPY[_result(op)]
        held = np.zeros(frame.shape(op.results[0].type), dtype)
    return [_fitting(frame, op.results[0], path, held)]


def _fitting(frame: Frame, value: Value, path: str, held: Array) -> Array:
    shape, dtype = frame.shape(value.type), NUMPY[concrete(value.type.dtype)]
    if held.shape != shape or held.dtype != dtype:
        raise RuntimeFault(
            f"`{path}` is {held.dtype}{list(held.shape)}, the program takes {dtype}{list(shape)}"
        )
    return held


def _state_write(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    frame.run.state[".".join(frame.path(op.attrs["path"]))] = args[0]
    return []


def _call_op(frame: Frame, op: Operation, args: list[Array]) -> Task:
    callee = frame.run.module.functions[op.attrs["callee"]]
    return _call(frame.run, callee, args, frame.path(op.attrs["at"]))


def _if(frame: Frame, op: Operation, args: list[Array]) -> Task:
    return _region(frame, op.regions[0 if args[0] else 1], [])


def _while(frame: Frame, op: Operation, args: list[Array]) -> Task:
    while (yield _region(frame, op.regions[0], args))[0]:
        args = yield _region(frame, op.regions[1], args)
    return args


def _each(frame: Frame, op: Operation, args: list[Array]) -> Task:
    name = f"${op.attrs['var']}"
    for number in range(frame.extent(op.attrs["count"])):
        frame.loops[name] = number
        args = yield _region(frame, op.regions[0], args)
    return args


def _loop(frame: Frame, op: Operation, args: list[Array]) -> Task:
    for number in range(frame.extent(op.attrs["start"]), frame.extent(op.attrs["stop"])):
        args = yield _region(frame, op.regions[0], [np.asarray(number, np.int64), *args])
    return args


def _elementwise(
    function: Callable[..., Array],
) -> Callable[[Frame, Operation, list[Array]], list[Array]]:
    return lambda frame, op, args: [function(*args)]


DISPATCH: dict[str, Callable[[Frame, Operation, list[Array]], list[Array]]] = {
    "constant": _constant,
    "dim": _dim,
    "iota": _iota,
    "fill": _fill,
    **{name: _elementwise(function) for name, function in ELEMENTWISE.items()},
    "cast": _cast,
    "reshape": _reshape,
    "permute": _permute,
    "broadcast": _broadcast,
    "concat": _concat,
    "slice": _slice,
    "index": _index,
    "gather": _gather,
    "reduce": _reduce,
    "contract": _contract,
    "cumsum": _cumsum,
    "param": _param,
    "state_read": _state_read,
    "state_write": _state_write,
}

STRUCTURE: dict[str, Callable[[Frame, Operation, list[Array]], Task]] = {
    "call": _call_op,
    "if": _if,
    "while": _while,
    "each": _each,
    "loop": _loop,
}
