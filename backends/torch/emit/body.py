"""The statements of one function, over what its values are written as (`values.py`).

Axes are spread where an operation needs them, not where the IR says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import contextmanager

from linnet.backends.code import Code, call, method, name
from linnet.backends.interpret.frame import concrete
from linnet.backends.torch.emit.names import Names
from linnet.backends.torch.emit.signs import Signs
from linnet.backends.torch.emit.structs import attributes, places, stem
from linnet.backends.torch.emit.values import NESTED, Pending, Surroundings, Values, shape_text
from linnet.backends.torch.semantics import position
from linnet.backends.torch.vocabulary import (
    SPREADING,
    code,
    implicit,
    left_implicit,
)
from linnet.backends.torch.vocabulary.unsqueezing import Unsqueezed, unsqueezed
from linnet.ir.core import Fields, Function, Operation, Region, Value
from linnet.ir.ops import ELEMENTWISE

_WITH_COMMENT = 90
"""The longest line that also says the shapes of several results."""


class Body(Values):
    """Writes the statements of `function` into `lines`."""

    def __init__(self, function: Function, around: Surroundings, names: Names) -> None:
        super().__init__(function, around, names)
        self._signs = Signs(function)
        self._last = function.body[-1] if function.body else None
        self._given: Code | None = None

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
        if found.kind == "value" and not over and not self._around.is_new(value):
            found = method(found, "clone")
        found = self.as_tensor(found, value)
        self._settle(lambda p: p.reads, found)
        target = self._around.member(op.attrs["path"], self.variables, "state")
        self.statement(found.text if is_there else f"{target} = {found}")

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
            found = self.as_tensor(operands[0], op.operands[0])
            self._define(result, call(position, found), reads=reads)
            return
        if op.name in ("gather", "index"):
            operands = [operands[0], *map(self._position, op.operands[1:], operands[1:])]
        self._define(result, code(op, operands, self.dims, self._around.device), reads=reads)

    def _is_position(self, op: Operation) -> bool:
        """Whether an integer that may be negative is cast for no other use than a position."""
        source, (result,) = op.operands[0].type.dtype, op.results
        may_be = concrete(source).is_integer and not self._signs.is_never_negative(result)
        return may_be and self._uses.only_positions(result)

    def _position(self, value: Value, found: Code) -> Code:
        made = self._makers.get(value.id)
        while made is not None and made.name in ("reshape", "broadcast"):
            value = made.operands[0]
            made = self._makers.get(value.id)
        if made is not None and made.name == "cast" and self._is_position(made):
            return found
        return self._at(value, found)

    def _at(self, value: Value, found: Code) -> Code:
        """What says where to read: that `value` is not negative has to be looked at, which PyTorch
        does not."""
        if self._signs.is_never_negative(value):
            return found
        found = self.as_tensor(found, value)
        if isinstance(found, Unsqueezed):
            return unsqueezed(call(position, found.base), found.axes)
        return call(position, found)

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
        pending = Pending(result, found, reads, op)
        self._pending[result.id] = pending
        if result.id in self._uses.deep or not self._uses.count.get(result.id):
            self._write_down(pending)

    # --- calls ---------------------------------------------------------------

    def _call(self, op: Operation) -> None:
        done = self._around.effects(op)
        reads = "reads" in done or any(self._reads(o) for o in op.operands)
        operands = [self.use(o) for o in op.operands]
        found = self.note(self._around.call(op, operands, self))
        if "writes" in done or self._around.overwrites(op):
            self._settle(lambda p: p.reads, found)
        gives = self._around.gives(op)
        if op is self._last and self._is_given(op, gives):
            self._given = found
        elif len(op.results) == 1 and "writes" not in done:
            self._define(op.results[0], found, reads=reads)
        elif not op.results:
            self.statement(found.text)
        else:
            self._several(op.results, found, gives)

    def _is_given(self, op: Operation, gives: tuple[Fields, ...]) -> bool:
        """Whether what a call gives is what the function gives."""
        return op.results == self._function.results and gives == self._around.returned

    def _several(self, values: Sequence[Value], found: Code, gives: Sequence[Fields]) -> None:
        targets: list[str] = []
        for place in places(len(values), gives):
            if isinstance(place, int):
                targets.append(self._name(values[place].hint or "value"))
                self._hold(values[place], targets[-1])
            else:
                targets.append(self._struct(place, values[place.first : place.stop]))
        comment = "  # " + ", ".join(shape_text(v.type) for v in values)
        line = f"{', '.join(targets)} = {found}"
        self.statement(line + comment if len(line + comment) <= _WITH_COMMENT else line)

    def _struct(self, fields: Fields, values: Sequence[Value]) -> str:
        """A variable for a struct, of which `values` are the fields."""
        text = self._names.new(stem(fields, values[0].hint))
        self._around.holding[text] = self._around.structs.title(fields)
        for value, part in zip(values, attributes(fields), strict=True):
            self._codes[value.id] = name(f"{text}.{part}")
        return text

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
            self.statement(f"return {self._given}")
            return
        parts = [self.tensor(r) for r in results]
        codes = self._around.structs.gathered(self._around.returned, parts, self._around.holding)
        text = ", ".join(c.text for c in codes)
        if len(codes) > 1 and len(text) > NESTED:
            text = f"({text})"
        if codes:
            self.statement(f"return {text}")
