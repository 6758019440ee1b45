"""A run of a module: bodies, regions and calls, whatever framework the arrays are of.

A value is let go after its last use, so a run holds what is live and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial

from linnet.backends.contract import RuntimeFault
from linnet.backends.interpret.frame import Array, Frame, Path, Run, concrete
from linnet.ir.core import Function, Operation, Region, Value


def walk(run: Run, arguments: list[Array]) -> list[Array]:
    """The results of the entry."""
    return _finish(_call(run, run.module.functions[run.module.entry], arguments, ()))


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
    operations = frame.run.framework.operations
    for operation, death in zip(body, frame.run.deaths[id(body)], strict=True):
        operands = [values[v.id] for v in operation.operands]
        for value in death.before:
            values.pop(value, None)
        try:
            if operation.name in STRUCTURE:
                found = yield STRUCTURE[operation.name](frame, operation, operands)
            else:
                found = operations[operation.name](frame, operation, operands)
        except RuntimeFault as fault:
            fault.place = fault.place or operation.place
            raise
        for value, result in zip(operation.results, found, strict=True):
            values[value.id] = result
        found.clear()  # who gave it may still hold it
        for value in death.after:
            values.pop(value, None)
    return [values[v.id] for v in yields]


# --- parameters and states ---------------------------------------------------


def _param(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    path = ".".join(frame.path(op.attrs["path"]))
    if path not in frame.run.weights:
        raise RuntimeFault(f"there is no weight `{path}`", "E5002")
    return [_fitting(frame, op.results[0], path, frame.run.weights[path])]


def _state_read(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    path = ".".join(frame.path(op.attrs["path"]))
    held = frame.run.state.get(path)
    if held is None:
        type_ = op.results[0].type
        held = frame.run.framework.zeros(frame.shape(type_), concrete(type_.dtype))
    return [_fitting(frame, op.results[0], path, held)]


def _fitting(frame: Frame, value: Value, path: str, held: Array) -> Array:
    shape = frame.shape(value.type)
    dtype = frame.run.framework.dtypes[concrete(value.type.dtype)]
    if held.shape != shape or held.dtype != dtype:
        raise RuntimeFault(
            f"`{path}` is {held.dtype}{list(held.shape)}, the program takes {dtype}{list(shape)}"
        )
    return held


def _state_write(frame: Frame, op: Operation, args: list[Array]) -> list[Array]:
    frame.run.state[".".join(frame.path(op.attrs["path"]))] = args[0]
    return []


HELD: dict[str, Callable[[Frame, Operation, list[Array]], list[Array]]] = {
    "param": _param,
    "state_read": _state_read,
    "state_write": _state_write,
}
"""Operations that are the same whatever the framework."""


# --- calls and regions -------------------------------------------------------


def _call_op(frame: Frame, op: Operation, args: list[Array]) -> Task:
    callee = frame.run.module.functions[op.attrs["callee"]]
    kernel = frame.run.kernels.get(callee.name)
    if kernel is not None:
        return _done(kernel(args))
    return _call(frame.run, callee, args, frame.path(op.attrs["at"]))


def _done(results: list[Array]) -> Task:
    """A task that is at its end."""
    return results
    yield


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
        args = yield _region(frame, op.regions[0], [frame.run.framework.counter(number), *args])
    return args


STRUCTURE: dict[str, Callable[[Frame, Operation, list[Array]], Task]] = {
    "call": _call_op,
    "if": _if,
    "while": _while,
    "each": _each,
    "loop": _loop,
}
