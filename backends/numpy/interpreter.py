"""The reference interpreter: the tensor IR, operation by operation.

`docs/ir.md` says what each operation means and this is the same in NumPy: plain, no
fusion. Scalars are arrays of rank 0. No array is changed once made. A value is let go
after its last use, so a run holds what is live and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass

import numpy as np

from linnet.backends.interpret.frame import Frame, Framework, Run, bind_symbols, concrete
from linnet.backends.interpret.liveness import Deaths, deaths
from linnet.backends.interpret.walk import HELD, walk
from linnet.backends.numpy import contraction, structure
from linnet.backends.numpy.dtypes import NUMPY, Array, cast, constant, integer
from linnet.backends.numpy.elementwise import ELEMENTWISE
from linnet.dims.dims import Symbol
from linnet.dtypes import DType
from linnet.ir.core import Module, Operation
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
        bound = bind_symbols([p.type for p in entry.params], values, symbols or {}, NUMPY)
        held: MutableMapping[str, Array] = {} if state is None else state
        stored: Mapping[str, Array] = {} if weights is None else weights
        shared = Run(FRAMEWORK, self.module, self.deaths, bound, stored, held)
        with np.errstate(all="ignore"):
            return walk(shared, values)


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
    **HELD,
}

FRAMEWORK = Framework(
    DISPATCH, NUMPY, lambda number: np.asarray(number, np.int64), lambda s, d: np.zeros(s, NUMPY[d])
)
