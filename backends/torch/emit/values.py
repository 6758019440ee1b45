"""The values of one function: which are variables, and which expressions wait to be nested.

A value that is used once, and that the source gave no name, is nested in the expression that uses
it; any other becomes a variable of its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from linnet.backends.code import Code, Kind, name
from linnet.backends.interpret.frame import concrete
from linnet.backends.torch.emit.names import Names, free, snake
from linnet.backends.torch.emit.structs import Structs
from linnet.backends.torch.emit.uses import Uses
from linnet.backends.torch.vocabulary import as_tensor, code, dim_code
from linnet.dims.dims import Dim, Symbol
from linnet.ir.core import Fields, Function, Operation, Value
from linnet.ir.types import Type
from linnet.ir.walk import operations

NESTED = 64
"""The longest expression that stands in another."""


class Surroundings(Protocol):
    """What a body asks of the function that it is of."""

    @property
    def device(self) -> Code:
        """The device of what is made from nothing."""
        ...

    def symbol(self, symbol: Symbol) -> Code:
        """What a dimension is in this function."""
        ...

    def member(self, path: Sequence[str | int], variables: dict[str, str], kind: str) -> Code:
        """A parameter, a state or a block, seen from this block."""
        ...

    def call(self, op: Operation, operands: Sequence[Code], body: Values) -> Code:
        """The call of a function, of a method, or what a kernel writes in its place."""
        ...

    def effects(self, op: Operation) -> frozenset[str]:
        """What a call does to states."""
        ...

    def overwrites(self, op: Operation) -> bool:
        """Whether a call overwrites the state that its result becomes."""
        ...

    @property
    def structs(self) -> Structs:
        """The classes of structs."""
        ...

    @property
    def holding(self) -> dict[str, str]:
        """The variables that hold a struct, with its class."""
        ...

    @property
    def returned(self) -> tuple[Fields, ...]:
        """The structs among the results of the function."""
        ...

    def gives(self, op: Operation) -> tuple[Fields, ...]:
        """The structs among the results of a call."""
        ...

    def is_new(self, value: Value) -> bool:
        """Whether a value has memory of its own, and no other use."""
        ...

    def is_same(self, one: Type, other: Type) -> bool:
        """Whether two shapes are equal, by the numbers that dimensions have here."""
        ...


@dataclass(slots=True)
class Pending:
    """An expression that is not written down yet. `spread` is the `broadcast` or `fill` that
    gives the value its whole shape; `reads`: it has a state's value in it."""

    value: Value
    code: Code
    reads: bool
    spread: Operation | None = None


class Values:
    """What the values of `function` are, and the `lines` that make them variables."""

    def __init__(self, function: Function, around: Surroundings, names: Names) -> None:
        self.lines: list[str] = []
        self.functions: dict[Callable[..., Any], None] = {}
        self.variables: dict[str, str] = {}
        self._function = function
        self._around = around
        self._names = names
        self._uses = Uses.of(function)
        self._makers = {r.id: op for op in operations(function.body) for r in op.results}
        self._left = dict(self._uses.count)
        self._placed = placed(function, around)
        self._codes: dict[int, Code] = {}
        self._in_hand: Sequence[Code] = ()
        self._held: dict[str, tuple[int, int]] = {}
        self._region = 0
        self._regions = 0
        self._pending: dict[int, Pending] = {}
        self._indent = 0

    def param(self, value: Value, text: str, kind: Kind) -> None:
        """`value` is the variable `text`."""
        self._hold(value, text)
        self._codes[value.id] = name(text, kind)

    def dims(self, dim: Dim) -> Code:
        """A dimension as a Python integer."""
        return dim_code(dim, self._around.symbol)

    def is_param(self, value: Value) -> bool:
        """Whether a value is a parameter that has one path, not one of many in a loop."""
        made = self._makers.get(value.id)
        return (
            made is not None
            and made.name == "param"
            and not any(str(part).startswith("$") for part in made.attrs["path"])
        )

    def statement(self, text: str) -> None:
        """One line."""
        self.lines.append("    " * self._indent + text)

    def use(self, value: Value) -> Code:
        """The expression of a value: a variable, or what is nested where it is used."""
        self._left[value.id] -= 1
        pending = self._pending.pop(value.id, None)
        if pending is None:
            return self._codes[value.id]
        if pending.spread is None:
            return pending.code
        if self._left[value.id]:
            self._pending[value.id] = pending
        return self._whole(pending)

    def tensor(self, value: Value) -> Code:
        """The expression of a value where nothing but a tensor will do."""
        return self.as_tensor(self.use(value), value)

    def as_tensor(self, found: Code, value: Value) -> Code:
        """The expression of a value as a tensor, of a Python number too."""
        if found.kind == "value":
            return found
        return self.note(as_tensor(found, concrete(value.type.dtype), self._around.device))

    def note(self, found: Code) -> Code:
        """An expression whose functions the file has to have."""
        self.functions.update(dict.fromkeys(found.functions))
        return found

    def _whole(self, pending: Pending) -> Code:
        assert pending.spread is not None
        return self.note(code(pending.spread, [pending.code], self.dims, self._around.device))

    def _reads(self, value: Value) -> bool:
        pending = self._pending.get(value.id)
        return pending is not None and pending.reads

    def _define(self, value: Value, found: Code, *, reads: bool, atom: bool = False) -> None:
        """What `value` is from here on."""
        self.note(found)
        count = self._uses.count.get(value.id, 0)
        if found.kind != "value" or (atom and not reads) or not count:
            self._codes[value.id] = found
        elif (
            (value.hint and not atom)
            or count > 1
            or value.id in self._uses.deep
            or (len(found.text) > NESTED and value.id not in self._placed)
        ):
            self._variable(value, found)
        else:
            self._pending[value.id] = Pending(value, found, reads)

    def _variable(self, value: Value, found: Code) -> Code:
        text = self._name(value.hint or "value")
        self.statement(f"{text} = {found}{comment(value.type)}")
        return self._hold(value, text)

    def _hold(self, value: Value, text: str) -> Code:
        self._held[text] = value.id, self._region
        self._codes[value.id] = name(text)
        return self._codes[value.id]

    def _name(self, wanted: str) -> str:
        """A variable of that name: the one that has it, if nobody needs what it holds."""
        text = free(wanted)
        value, region = self._held.get(text, (-1, -1))
        if region != self._region or self._left.get(value) or self._is_mentioned(text):
            return self._names.new(wanted)
        return text

    def _is_mentioned(self, text: str) -> bool:
        word = re.compile(rf"\b{text}\b")
        waiting = [*(p.code for p in self._pending.values()), *self._in_hand]
        return any(word.search(code.text) for code in waiting)

    def _write_down(self, pending: Pending) -> None:
        self._pending.pop(pending.value.id, None)
        whole = pending.code if pending.spread is None else self._whole(pending)
        self._variable(pending.value, whole)

    def _settle(self, which: Callable[[Pending], bool], *in_hand: Code) -> None:
        """Write down what waits, in order, before a statement with the expressions `in_hand`."""
        self._in_hand = in_hand
        for pending in [p for p in self._pending.values() if which(p)]:
            self._write_down(pending)
        self._in_hand = ()


def placed(function: Function, around: Surroundings) -> set[int]:
    """The values of which an expression is a statement as it is: what the function gives, alone,
    and what becomes a state."""
    found = {r.id for r in function.results} if len(function.results) == 1 else set[int]()
    for op in reversed(function.body):
        if op.name == "state_write":
            found.add(op.operands[0].id)
        elif op.name == "reshape" and around.is_same(op.operands[0].type, op.results[0].type):
            found |= {o.id for o in op.operands if op.results[0].id in found}
    return found


def shape_text(type_: Type) -> str:
    if type_.dims is None:
        return "scalar"
    return f"[{', '.join(_dim_text(d) for d in type_.dims)}]"


def _dim_text(dim: Dim) -> str:
    return re.sub(r"[A-Za-z_]\w*", lambda m: snake(m.group()), str(dim))


def comment(type_: Type) -> str:
    return f"  # {shape_text(type_)}" if type_.dims is not None else ""
