"""The inputs of an entry that `linnet run` calls, made of what the command line says."""

from __future__ import annotations

import zlib
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any

from linnet.check.substitute import in_type
from linnet.check.typed import TFunction, TGeneric
from linnet.check.types import OptionalType, ScalarType, TensorType, Type
from linnet.cli.given import FromFile, Given, Nested, RandomIn, Rows
from linnet.dims.dims import Dim
from linnet.dtypes import DType
from linnet.lower.bindings import bind
from linnet.nest.words import shape_text
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError
from linnet.source.files import Span
from linnet.source.shown import reason, shown

if TYPE_CHECKING:
    from linnet.nest.checkpoint import Array
    from linnet.nest.model import Model

FORMS = (
    "`--input NAME=...` takes 1,2,3 and rows 1,2;3,4, lists in lists such as [[1, 2], [3, 4]], "
    "@FILE.npy, and random:2x3"
)
# The size of a last axis of which neither the source nor the card tells the size.
LENGTH = 8


def given_inputs(
    model: Model, entry: str, tokens: Rows | None, inputs: Sequence[tuple[str, Given]]
) -> dict[str, Any]:
    """The inputs by name; tokens are the entry's first one."""
    model.entry(entry)  # an entry that is not there is reported
    types = _types(model, entry)
    first = next(iter(types), None)
    named: list[tuple[str, Given]] = list(inputs)
    if first is not None and tokens is not None:
        named.append((first, tokens))
    given: dict[str, Given] = {}
    for name, value in named:
        if name in given:
            raise _refused(f"the input {shown(name)} is given twice")
        given[name] = value
    return {name: _value(name, value, types.get(name)) for name, value in given.items()}


def examples(model: Model, entry: str, given: Container[str]) -> str | None:
    """How the inputs that must be given and are not could be."""
    from linnet.nest.inputs import required  # brings NumPy

    types = _types(model, entry)
    missing = [n for n in required(_function(model, entry)[0]) if n not in given]
    return " ".join(f"`--input {n}={_example(types[n])}`" for n in missing) or None


def count_up(model: Model, entry: str, given: Container[str]) -> dict[str, Any]:
    """Rows of 0, 1, 2, ... for a first input of integers in one or two axes that is not given and
    has no default; nothing for others."""
    import numpy as np

    function, generics = _function(model, entry)
    if not function.params or function.params[0].default is not None:
        return {}
    name = function.params[0].local.name
    sizes = bind(generics, {**model.card.check, **model.program.generics})
    type_ = in_type(function.params[0].local.type, sizes)
    if name in given or not isinstance(type_, TensorType) or len(type_.dims) not in (1, 2):
        return {}
    if not isinstance(type_.dtype, DType) or not type_.dtype.is_integer:
        return {}
    *outer, width = (_extent(type_, i) for i in range(len(type_.dims)))
    shape = (*(1 if n is None else n for n in outer), LENGTH if width is None else width)
    try:
        value = np.empty(shape, np.int64)
        value[...] = np.arange(shape[-1])
    except (MemoryError, ValueError, OverflowError):  # what NumPy says depends on the size
        help_ = "write smaller sizes into [check], or give the input by `--tokens`"
        raise _too_large(name, shape, help_, model.card.place("check")) from None
    return {name: value}


# --- types -------------------------------------------------------------------


def _function(model: Model, entry: str) -> tuple[TFunction, tuple[TGeneric, ...]]:
    """An entry, and the generics that its types are of."""
    program = model.program
    function = program.program.functions[program.block.methods[entry]]
    return function, (*program.block.generics, *function.generics)


def _types(model: Model, entry: str) -> dict[str, Type]:
    function, generics = _function(model, entry)
    scope = bind(generics, model.program.generics)
    return {p.local.name: in_type(p.local.type, scope) for p in function.params}


def _plain(type_: Type | None) -> Type | None:
    """What an optional is of; others as they are."""
    return type_.inner if isinstance(type_, OptionalType) else type_


def _extent(type_: TensorType, axis: int) -> int | None:
    dim = type_.dims[axis]
    return dim.as_int() if isinstance(dim, Dim) else None


def _example(type_: Type) -> str:
    """A value of a type, in the form that is short."""
    if not isinstance(type_, ScalarType | TensorType) or not isinstance(type_.dtype, DType):
        return "..."
    dtype = type_.dtype
    number = "0.5" if dtype.is_float else "1" if dtype.is_integer else "true"
    if isinstance(type_, ScalarType):
        return number
    if dtype.is_float:
        sizes = (_extent(type_, i) for i in range(len(type_.dims)))
        return "random:" + "x".join("2" if n is None else str(n) for n in sizes)
    return f"{number},{number}" if len(type_.dims) < 3 else "@FILE.npy"


# --- values ------------------------------------------------------------------


def _value(name: str, given: Given, type_: Type | None) -> Any:
    """What is given as the declared type asks for it; what does not fit is reported later."""
    match given:
        case Nested(value):
            return value
        case FromFile(path):
            return _loaded(name, path, _plain(type_))
        case RandomIn(shape):
            return _random(name, shape, _plain(type_))
        case _:
            return _arranged(given, _plain(type_))


def _loaded(name: str, path: str, type_: Type | None) -> Any:
    """The array of a file. Its floats are rounded to the dtype of the input, as numbers that are
    written out: not every dtype can be stored there."""
    import numpy as np

    from linnet.backends.numpy.dtypes import cast

    help_ = "`numpy.save` writes such a file"
    try:
        found: Any = np.load(path, allow_pickle=False)
    except OSError as error:
        raise _refused(f"the input `{name}`: {path} cannot be read: {reason(error)}") from None
    except Exception:  # of broken files NumPy raises what its tokenizer and archives do
        raise _refused(f"the input `{name}`: {path} is no array in a .npy file", help_) from None
    if isinstance(found, np.lib.npyio.NpzFile):
        raise _refused(f"the input `{name}`: {path} holds several arrays", help_)
    dtype = type_.dtype if isinstance(type_, ScalarType | TensorType) else None
    array: Array = found
    if isinstance(dtype, DType) and dtype.is_float and array.dtype.kind == "f":
        return cast(array, dtype)
    return array


def _random(name: str, shape: tuple[int, ...], type_: Type | None) -> Any:
    """Normal floats, the same in every run."""
    import numpy as np

    from linnet.backends.numpy.dtypes import cast

    dtype = type_.dtype if isinstance(type_, TensorType) else None
    if not isinstance(dtype, DType) or not dtype.is_float:
        is_ = f"is {type_}" if type_ is not None else "is no input"
        raise _refused(f"`{name}` {is_}: only a tensor of floats can be random", FORMS)
    try:
        generator = np.random.default_rng(zlib.crc32(name.encode()))
        return cast(generator.standard_normal(shape, np.float32), dtype)
    except (MemoryError, ValueError, OverflowError):
        raise _too_large(name, shape, "give a smaller shape") from None


def _arranged(rows: Rows, type_: Type | None) -> Any:
    if len(rows) > 1:
        return rows
    (values,) = rows
    if isinstance(type_, ScalarType) and len(values) == 1:
        return values[0]
    if not isinstance(type_, TensorType) or len(type_.dims) != 2:
        return values
    count = _extent(type_, 0) or len(values) // (_extent(type_, 1) or len(values) or 1)
    if count == 0 or len(values) % count:
        return rows
    width = len(values) // count
    return [values[i * width : (i + 1) * width] for i in range(count)]


def _refused(message: str, help_: str | None = None) -> LinnetError:
    return LinnetError([Diagnostic("E2102", message, None, help=help_)])


def _too_large(
    name: str, shape: Sequence[int], help_: str, place: Span | None = None
) -> LinnetError:
    message = f"`{name}` in the shape {shape_text(shape)} needs more memory than there is"
    return LinnetError([Diagnostic("E5004", message, place, help=help_)])
