"""The statements of one function.

A value that is used once, and that the source gave no name, is nested in the expression that uses
it; any other becomes a variable of its name. Axes are spread where an operation needs them, not
where the IR says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from linnet.backends.code import Code, Kind, call, method, name
from linnet.backends.interpret.frame import concrete
from linnet.backends.torch.emit.names import Names, free, snake
from linnet.backends.torch.emit.uses import Uses
from linnet.backends.torch.semantics import position
from linnet.backends.torch.vocabulary import (
    SPREADING,
    as_tensor,
    code,
    dim_code,
    implicit,
    left_implicit,
)
from linnet.dims.dims import Dim, Symbol
from linnet.ir.core import Function, Operation, Region, Value
from linnet.ir.ops import ELEMENTWISE
from linnet.ir.types import Type
from linnet.ir.walk import operations

_COMPUTED = frozenset(
    {"add", "sub", "mul", "div", "rem", "neg", "min", "max", "select", "shl", "shr"}
)
"""Operations by which a position may come to be negative."""
_NESTED = 64
"""The longest expression that stands in another."""
_WITH_COMMENT = 90
"""The longest line that also says the shapes of several results."""


class Surroundings(Protocol):
    """What a body asks of the function that it is of."""

    @property
    def is_entry(self) -> bool:
        """Whether the function is called from outside."""
        ...

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

    def call(self, op: Operation, operands: Sequence[Code], body: Body) -> Code:
        """The call of a function, of a method, or what a kernel writes in its place."""
        ...

    def effects(self, op: Operation) -> frozenset[str]:
        """What a call does to states."""
        ...

    def overwrites(self, op: Operation) -> bool:
        """Whether a call overwrites the state that its result becomes."""
        ...

    def is_new(self, value: Value) -> bool:
        """Whether a value has memory of its own, and no other use."""
        ...

    def is_same(self, one: Type, other: Type) -> bool:
        """Whether two shapes are equal, by the numbers that dimensions have here."""
        ...


@dataclass(slots=True)
class _Pending:
    """An expression that is not written down yet. `spread` is the `broadcast` or `fill` that
    gives the value its whole shape; `reads`: it has a state's value in it."""

    value: Value
    code: Code
    reads: bool
    spread: Operation | None = None


class Body:
    """Writes the statements of `function` into `lines`."""

    def __init__(self, function: Function, around: Surroundings, names: Names) -> None:
        self.lines: list[str] = []
        self.functions: dict[Callable[..., Any], None] = {}
        self.variables: dict[str, str] = {}
        self._function = function
        self._last = function.body[-1] if function.body else None
        self._makers = {r.id: op for op in operations(function.body) for r in op.results}
        self._given: Code | None = None
        self._around = around
        self._names = names
        self._uses = Uses.of(function)
        self._left = dict(self._uses.count)
        self._placed = _placed(function, around)
        self._codes: dict[int, Code] = {}
        self._in_hand: Sequence[Code] = ()
        self._held: dict[str, tuple[int, int]] = {}
        self._region = 0
        self._regions = 0
        self._pending: dict[int, _Pending] = {}
        self._indent = 0

    # --- what it is written with ---------------------------------------------

    def param(self, value: Value, text: str, kind: Kind) -> None:
        """`value` is the variable `text`."""
        self._hold(value, text)
        self._codes[value.id] = name(text, kind)

    def dims(self, dim: Dim) -> Code:
        """A dimension as a Python integer."""
        return dim_code(dim, self._around.symbol)

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
        found = self.use(value)
        if found.kind == "value":
            return found
        made = as_tensor(found, concrete(value.type.dtype), self._around.device)
        self.functions.update(dict.fromkeys(made.functions))
        return made

    def _whole(self, pending: _Pending) -> Code:
        assert pending.spread is not None
        found = code(pending.spread, [pending.code], self.dims, self._around.device)
        self.functions.update(dict.fromkeys(found.functions))
        return found

    # --- operations ----------------------------------------------------------

    def body(self, body: Iterable[Operation]) -> None:
        """The statements of a body but for what it gives."""
        for op in body:
            match op.name:
                case "param" | "state_read":
                    kind = "param" if op.name == "param" else "state"
                    found = self._around.member(op.attrs["path"], self.variables, kind)
                    self._define(op.results[0], found, reads=kind == "state", atom=True)
                case "state_write":
                    self._write(op)
                case "call":
                    self._call(op)
                case "if":
                    self._if(op)
                case "each" | "loop" | "while":
                    self._loop(op)
                case _:
                    self._operation(op)

    def _write(self, op: Operation) -> None:
        """A state's memory is its own: another's becomes a copy."""
        (value,) = op.operands
        made = self._makers.get(value.id)
        over = made is not None and self._around.overwrites(made)
        is_there = over and value.id in self._pending
        found = self.use(value)
        if found.kind != "value":
            found = as_tensor(found, concrete(value.type.dtype), self._around.device)
            self.functions.update(dict.fromkeys(found.functions))
        elif not over and not self._around.is_new(value):
            found = method(found, "clone")
        self._settle(lambda p: p.reads, found)
        target = self._around.member(op.attrs["path"], self.variables, "state")
        self.statement(found.text if is_there else f"{target} = {found}")

    def is_param(self, value: Value) -> bool:
        """Whether a value is a parameter that has one path, not one of many in a loop."""
        made = self._makers.get(value.id)
        return (
            made is not None
            and made.name == "param"
            and not any(str(part).startswith("$") for part in made.attrs["path"])
        )

    def _operation(self, op: Operation) -> None:
        (result,) = op.results
        if op.name in SPREADING and op.results[0].type.shape:
            self._spread(op)
            return
        if op.name == "reshape" and self._around.is_same(op.operands[0].type, result.type):
            reads = self._reads(op.operands[0])
            self._define(result, self.use(op.operands[0]), reads=reads)
            return
        reads = any(self._reads(o) for o in op.operands)
        spread = {
            k: p.spread
            for k, o in enumerate(op.operands)
            if (p := self._pending.get(o.id)) is not None and p.spread is not None
        }
        left = left_implicit(op, spread) if op.name in ELEMENTWISE else frozenset[int]()
        operands = [
            self._implicitly(o) if k in left else self.use(o) for k, o in enumerate(op.operands)
        ]
        if op.name == "cast" and self._is_position(op):
            self._define(result, call(position, operands[0]), reads=reads)
            return
        if op.name in ("gather", "index"):
            operands = [operands[0], *map(self._position, op.operands[1:], operands[1:])]
        self._define(result, code(op, operands, self.dims, self._around.device), reads=reads)

    def _is_position(self, op: Operation) -> bool:
        """Whether an integer that comes from outside is made a position: that it is not negative
        has to be looked at, which PyTorch does not."""
        source, (result,) = op.operands[0].type.dtype, op.results
        return concrete(source).is_integer and self._uses.only_positions(result)

    def _position(self, value: Value, found: Code) -> Code:
        """A position that is computed here, or given from outside."""
        made = self._makers.get(value.id)
        while made is not None and made.name == "reshape":
            value = made.operands[0]
            made = self._makers.get(value.id)
        outside = made is None and self._around.is_entry
        computed = made is not None and made.name in _COMPUTED
        return call(position, found) if (outside or computed) and found.kind == "value" else found

    def _implicitly(self, value: Value) -> Code:
        pending = self._pending[value.id]
        assert pending.spread is not None
        self._left[value.id] -= 1
        if not self._left[value.id]:
            del self._pending[value.id]
        return implicit(pending.spread, pending.code)

    def _spread(self, op: Operation) -> None:
        """A broadcast waits for who needs it; what it spreads is a variable if several do."""
        (operand,), (result,) = op.operands, op.results
        reads = self._reads(operand)
        found = self.use(operand)
        if found.kind == "value" and self._uses.count.get(result.id, 0) > 1:
            found = self._variable(operand, found) if not found.text.isidentifier() else found
        pending = _Pending(result, found, reads, op)
        self._pending[result.id] = pending
        if result.id in self._uses.deep or not self._uses.count.get(result.id):
            self._write_down(pending)

    def _reads(self, value: Value) -> bool:
        pending = self._pending.get(value.id)
        return pending is not None and pending.reads

    def _define(self, value: Value, found: Code, *, reads: bool, atom: bool = False) -> None:
        """What `value` is from here on."""
        self.functions.update(dict.fromkeys(found.functions))
        count = self._uses.count.get(value.id, 0)
        if found.kind != "value" or (atom and not reads) or not count:
            self._codes[value.id] = found
        elif (
            (value.hint and not atom)
            or count > 1
            or value.id in self._uses.deep
            or (len(found.text) > _NESTED and value.id not in self._placed)
        ):
            self._variable(value, found)
        else:
            self._pending[value.id] = _Pending(value, found, reads)

    def _variable(self, value: Value, found: Code) -> Code:
        text = self._name(value.hint or "value")
        self.statement(f"{text} = {found}{_comment(value.type)}")
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

    def _write_down(self, pending: _Pending) -> None:
        self._pending.pop(pending.value.id, None)
        whole = pending.code if pending.spread is None else self._whole(pending)
        self._variable(pending.value, whole)

    def _settle(self, which: Callable[[_Pending], bool], *in_hand: Code) -> None:
        """Write down what waits, in order, before a statement with the expressions `in_hand`."""
        self._in_hand = in_hand
        for pending in [p for p in self._pending.values() if which(p)]:
            self._write_down(pending)
        self._in_hand = ()

    # --- calls ---------------------------------------------------------------

    def _call(self, op: Operation) -> None:
        done = self._around.effects(op)
        reads = "reads" in done or any(self._reads(o) for o in op.operands)
        operands = [self.use(o) for o in op.operands]
        found = self._around.call(op, operands, self)
        if "writes" in done or self._around.overwrites(op):
            self._settle(lambda p: p.reads, found)
        last = op is self._last
        if last and op.results == self._function.results:
            self._given = found
        elif len(op.results) == 1 and "writes" not in done:
            self._define(op.results[0], found, reads=reads)
        elif not op.results:
            self.statement(found.text)
        else:
            self._several(op.results, found)

    def _several(self, values: Sequence[Value], found: Code) -> None:
        targets: list[str] = []
        for value in values:
            targets.append(self._name(value.hint or "value"))
            self._hold(value, targets[-1])
        comment = "  # " + ", ".join(_shape(v.type) for v in values)
        line = f"{', '.join(targets)} = {found}"
        self.statement(line + comment if len(line + comment) <= _WITH_COMMENT else line)

    # --- structure -----------------------------------------------------------

    @contextmanager
    def _inside(self):
        outer = self._region
        self._regions += 1
        self._region = self._regions
        self._indent += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.statement("pass")
        self._indent -= 1
        self._region = outer

    def _if(self, op: Operation) -> None:
        condition = self.use(op.operands[0])
        self._settle(lambda p: True, condition)
        if len(op.results) == 1 and (both := self._conditional(op, condition)) is not None:
            self._define(op.results[0], both, reads=False)
            return
        targets = [self._names.new(r.hint or "value") for r in op.results]
        for head, region in zip((f"if {condition}:", "else:"), op.regions, strict=True):
            self.statement(head)
            with self._inside():
                self.body(region.body)
                self._assign(targets, region)
        for result, text in zip(op.results, targets, strict=True):
            self._hold(result, text)

    def _conditional(self, op: Operation, condition: Code) -> Code | None:
        """`a if condition else b` where both regions are but expressions."""
        if any(region.body for region in op.regions):
            return None
        sides = [self.tensor(region.yields[0]) for region in op.regions]
        text = f"{sides[0].within(2)} if {condition.within(2)} else {sides[1].within(2)}"
        functions = (*sides[0].functions, *condition.functions, *sides[1].functions)
        return Code(text, functions, 0)

    def _loop(self, op: Operation) -> None:
        region = op.regions[-1]
        own = region.params[1:] if op.name == "loop" else region.params
        start = [self.tensor(o) for o in op.operands]
        self._settle(lambda p: True, *start)
        targets: list[str] = []
        for operand, param, code_ in zip(op.operands, own, start, strict=True):
            targets.append(self._target(operand, param, code_, targets))
        self._assign_codes(targets, start)
        self._head(op)
        with self._inside():
            if op.name == "while":
                self._condition(op.regions[0], targets)
            for param, text in zip(own, targets, strict=True):
                self._hold(param, text)
            self.body(region.body)
            self._assign(targets, region)
        for result, text in zip(op.results, targets, strict=True):
            self._hold(result, text)

    def _target(self, operand: Value, param: Value, start: Code, others: Sequence[str]) -> str:
        """The variable that a loop carries: the one that it starts with, if that is free then."""
        own = self._held.get(start.text) == (operand.id, self._region)
        mine = own and start.text not in others
        free_ = mine and not self._left[operand.id] and not self._is_mentioned(start.text)
        return start.text if free_ else self._names.new(param.hint or operand.hint or "value")

    def _head(self, op: Operation) -> None:
        match op.name:
            case "each":
                variable = self._names.new(op.attrs["var"])
                array = self._around.member(op.attrs["array"], self.variables, "sub")
                self.variables[f"${op.attrs['var']}"] = variable
                self.statement(f"for {variable} in {array}:")
            case "loop":
                counter = op.regions[0].params[0]
                text = self._names.new(counter.hint or "i")
                self._codes[counter.id] = name(text, "number")
                start, stop = self.dims(op.attrs["start"]), self.dims(op.attrs["stop"])
                bounds = stop.text if start.text == "0" else f"{start}, {stop}"
                self.statement(f"for {text} in range({bounds}):")
            case _:
                self.statement("while True:")

    def _condition(self, region: Region, targets: Sequence[str]) -> None:
        for param, text in zip(region.params, targets, strict=True):
            self._codes[param.id] = name(text)
        self.body(region.body)
        self.statement(f"if not {self.use(region.yields[0]).within(20)}:")
        self.statement("    break")

    def _assign(self, targets: Sequence[str], region: Region) -> None:
        self._assign_codes(targets, [self.tensor(y) for y in region.yields])
        self._settle(lambda p: True)

    def _assign_codes(self, targets: Sequence[str], codes: Sequence[Code]) -> None:
        pairs = [(t, c) for t, c in zip(targets, codes, strict=True) if t != c.text]
        if pairs:
            left, right = ", ".join(t for t, _ in pairs), ", ".join(c.text for _, c in pairs)
            self.statement(f"{left} = {right}")

    def give(self, results: Sequence[Value]) -> None:
        """The `return`."""
        if self._given is not None:
            self.functions.update(dict.fromkeys(self._given.functions))
            self.statement(f"return {self._given}")
            return
        codes = [self.tensor(r) for r in results]
        text = ", ".join(c.text for c in codes)
        if len(codes) > 1 and len(text) > _NESTED:
            text = f"({text})"
        if codes:
            self.statement(f"return {text}")


def _placed(function: Function, around: Surroundings) -> set[int]:
    """The values of which an expression is a statement as it is: what the function gives, alone,
    and what becomes a state."""
    found = {r.id for r in function.results} if len(function.results) == 1 else set[int]()
    for op in reversed(function.body):
        if op.name == "state_write":
            found.add(op.operands[0].id)
        elif op.name == "reshape" and around.is_same(op.operands[0].type, op.results[0].type):
            found |= {o.id for o in op.operands if op.results[0].id in found}
    return found


def _shape(type_: Type) -> str:
    if type_.dims is None:
        return "scalar"
    return f"[{', '.join(_dim_text(d) for d in type_.dims)}]"


def _dim_text(dim: Dim) -> str:
    return re.sub(r"[A-Za-z_]\w*", lambda m: snake(m.group()), str(dim))


def _comment(type_: Type) -> str:
    return f"  # {_shape(type_)}" if type_.dims is not None else ""
