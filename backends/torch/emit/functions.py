"""Functions and methods of generated source. Those that read the same are one."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torch import nn

from linnet.backends.code import Code, call, functions_of, method, name
from linnet.backends.kernels import CallSite, Decision, Kernel
from linnet.backends.torch.emit.body import Body
from linnet.backends.torch.emit.facts import Facts
from linnet.backends.torch.emit.names import Names, snake
from linnet.backends.torch.emit.preparation import Preparation
from linnet.backends.torch.emit.structs import Structs, attributes, grouped, places, stem
from linnet.backends.torch.emit.values import Values
from linnet.dims.dims import Dim, Symbol
from linnet.ir.core import Fields, Function, Operation, Value
from linnet.ir.types import Type
from linnet.ir.walk import operations
from linnet.lower.outline import Outline, Sub

_FORWARD = "forward"


@dataclass(frozen=True, slots=True)
class Written:
    """A function or method: what stands behind `def name`, and what else than its parameters a
    call has to give: the symbols that its arguments do not tell, and a device. `takes` and `gives`
    are the structs among its parameters and results, `result` the type of what it returns."""

    name: str
    params: tuple[tuple[str, str], ...]
    symbols: tuple[tuple[Symbol, str], ...]
    device: bool
    result: str
    lines: tuple[str, ...]
    functions: tuple[Callable[..., Any], ...]
    takes: tuple[Fields, ...] = ()
    gives: tuple[Fields, ...] = ()

    def same_as(self, other: Written) -> bool:
        """Whether one may stand for the other."""
        return self._seen() == other._seen()

    def _seen(self) -> tuple[Any, ...]:
        return self.params, [t for _, t in self.symbols], self.device, self.result, self.lines


@dataclass(slots=True)
class Owner:
    """The methods of a block, or the functions outside any; `symbols` are the generics that the
    methods read from `self`."""

    outline: Outline | None
    names: Names
    written: dict[str, list[Written]] = field(default_factory=dict[str, list[Written]])
    symbols: dict[Symbol, str] = field(default_factory=dict[Symbol, str])
    preparation: Preparation = field(init=False)

    def __post_init__(self) -> None:
        self.preparation = Preparation(self.names)

    @property
    def all(self) -> list[Written]:
        """Every function; that which prepares last."""
        found = [w for same in self.written.values() for w in same]
        own = self.preparation
        if own.buffers:
            lines, functions = tuple(own.lines()), tuple(own.functions)
            found.append(Written(own.method, (), (), False, "None", lines, functions))
        return found

    def add(self, found: Written, wanted: str) -> Written:
        """`found`, or one that reads the same and is there already."""
        alike = self.written.setdefault(wanted, [])
        for other in alike:
            if found.same_as(other):
                return replace(found, name=other.name)
        alike.append(replace(found, name=self.names.new(wanted)))
        return alike[-1]

    def symbol(self, symbol: Symbol) -> str:
        """The attribute that holds a generic of the block."""
        if symbol not in self.symbols:
            # `forward` is what calling the module runs.
            wanted = snake(symbol.name)
            self.symbols[symbol] = self.names.new("forward_" if wanted == _FORWARD else wanted)
        return self.symbols[symbol]


@dataclass(frozen=True, slots=True)
class Inside:
    """The root, the name of its class, and its entries: called from inside, they are those of the
    class, whatever stands before them for callers from outside."""

    root: Outline
    title: str
    entries: frozenset[str]


class Scope:
    """One function in the making: what its body asks."""

    def __init__(
        self,
        function: Function,
        owner: Owner,
        callees: Mapping[str, tuple[Written, Outline | None]],
        facts: Facts,
        inside: Inside,
        structs: Structs,
        taken: Iterable[str] = (),
    ) -> None:
        self.function = function
        self.owner = owner
        self.structs = structs
        self.holding: dict[str, str] = {}
        self.symbols: dict[Symbol, str] = {}
        self._axes: dict[str, dict[int, str]] = {}
        self.needs_device = False
        self._callees = callees
        self._facts = facts
        self._inside = inside
        self._dims: dict[Symbol, Code] = {}
        self._taken = set(taken)
        self._integers = facts.integers.get(function.name, frozenset[int]())
        # Who calls an entry from outside knows nothing of structs.
        inner = function.name != facts.module.entry
        self._takes = tuple(grouped(function.takes, self._integers)) if inner else ()
        self.returned = tuple(grouped(function.gives)) if inner else ()
        self._names = Names({inside.title, *self._called(), *self._taken})
        self._signature: list[tuple[str, str]] = []
        self.params = tuple(self._declared())

    def _declared(self) -> Iterator[str]:
        """What each parameter of the function is in its body, the fields of a struct among them."""
        params = self.function.params
        for place in places(len(params), self._takes):
            if isinstance(place, int):
                text = self._names.new(params[place].hint or "value")
                self._signature.append((text, "int" if place in self._integers else "Tensor"))
                yield text
            else:
                text = self._names.new(stem(place, params[place.first].hint))
                self.holding[text] = self.structs.title(place)
                self._signature.append((text, self.holding[text]))
                yield from (f"{text}.{part}" for part in attributes(place))

    def _called(self) -> Iterator[str]:
        """The functions outside any block that the body calls, and the classes of structs."""
        yield from map(self.structs.title, (*self._takes, *self.returned))
        for op in operations(self.function.body):
            if op.name == "call" and op.attrs["callee"] in self._callees:
                written, _ = self._callees[op.attrs["callee"]]
                yield written.name
                yield from map(self.structs.title, written.takes)

    def _decision(self, op: Operation) -> Decision | None:
        return self._facts.decisions.get(op.attrs["callee"])

    # --- what a body asks ----------------------------------------------------

    @property
    def device(self) -> Code:
        for k, param in enumerate(self.params):
            if k not in self._integers:
                return name(f"{param}.device")
        self.needs_device = True
        return name("device")

    def symbol(self, symbol: Symbol) -> Code:
        if symbol not in self._dims:
            self._dims[symbol] = self._source(symbol)
        return self._dims[symbol]

    def _source(self, symbol: Symbol) -> Code:
        outline = self.owner.outline
        if outline is not None and symbol in outline.symbols:
            return name(f"self.{self.owner.symbol(symbol)}", "number")
        text = self._names.new(snake(symbol.name))
        for param, value in zip(self.params, self.function.params, strict=True):
            if Dim.of(symbol) in value.type.shape:
                axis = value.type.shape.index(Dim.of(symbol))
                self._axes.setdefault(param, {})[axis] = text
                return name(text, "number")
        self.symbols[symbol] = text
        return name(text, "number")

    def member(self, path: Sequence[str | int], variables: dict[str, str], kind: str) -> Code:
        found, parts = "self", list(path)
        for k, part in enumerate(parts):
            if part in variables:
                found, parts = variables[str(part)], parts[k + 1 :]
                break
        for k, part in enumerate(parts):
            of = kind if k == len(parts) - 1 else "sub"
            found = f"{found}[{part}]" if isinstance(part, int) else attribute(found, part, of)
        return name(found)

    def effects(self, op: Operation) -> frozenset[str]:
        return self._facts.effects[op.attrs["callee"]]

    def gives(self, op: Operation) -> tuple[Fields, ...]:
        decision = self._decision(op)
        if decision is not None and decision.kernel is not None:
            return ()
        return self._callees[op.attrs["callee"]][0].gives

    def overwrites(self, op: Operation) -> bool:
        over = self._facts.memory.over.get(self.function.name, frozenset[int]())
        return any(r.id in over for r in op.results)

    def is_new(self, value: Value) -> bool:
        return value.id in self._facts.memory.new[self.function.name]

    def is_same(self, one: Type, other: Type) -> bool:
        numbers = self._facts.numbers.get(self.function.name, {})
        return one.under(numbers) == other.under(numbers)

    def call(self, op: Operation, operands: Sequence[Code], body: Values) -> Code:
        callee: str = op.attrs["callee"]
        decision = self._decision(op)
        if decision is not None and decision.kernel is not None:
            return self._kernel(decision.kernel, decision.site, op, operands, body)
        written, outline = self._callees[callee]
        integers = self._facts.integers[callee]
        arguments = [
            o if k in integers else body.as_tensor(o, v)
            for k, (o, v) in enumerate(zip(operands, op.operands, strict=True))
        ]
        arguments = self.structs.gathered(written.takes, arguments, self.holding)
        generics = dict(op.attrs.get("generics", ()))
        named = {text: body.dims(generics[s]) for s, text in written.symbols}
        if written.device:
            named["device"] = self.device
        if outline is None:
            return call(written.name, *arguments, **named)
        own = outline is self._inside.root and not op.attrs["at"]
        if own and written.name in self._inside.entries:
            return call(f"{self._inside.title}.{written.name}", name("self"), *arguments, **named)
        at = self.member(op.attrs["at"], body.variables, "sub")
        if written.name == _FORWARD and op.attrs["at"]:
            return call(at.text, *arguments, **named)
        return method(at, written.name, *arguments, **named)

    def _extents(self) -> Iterator[str]:
        """The dimensions that the shapes of parameters tell."""
        ranks = dict(zip(self.params, (p.type.rank for p in self.function.params), strict=True))
        for param, axes in self._axes.items():
            rank = ranks[param]
            if len(axes) > 1:
                yield f"{', '.join(axes.get(k, '_') for k in range(rank))} = {param}.shape"
                continue
            for axis, text in axes.items():
                last = axis > 0 and axis == rank - 1
                yield f"{text} = {param}.shape[{-1 if last else axis}]"

    def _kernel(
        self, kernel: Kernel, site: CallSite, op: Operation, operands: Sequence[Code], body: Values
    ) -> Code:
        numbers = kernel.number_operands(site)
        operands = [
            o if k in numbers else body.as_tensor(o, v)
            for k, (o, v) in enumerate(zip(operands, op.operands, strict=True))
        ]
        codes = self._prepared(kernel, site, op, operands, body)
        if codes is None:
            emit = kernel.emit_in_place if self.overwrites(op) else kernel.emit
            assert emit is not None, kernel.name
            codes = emit(site, operands)
        if len(codes) == 1:
            return codes[0]
        return Code(", ".join(c.text for c in codes), functions_of(codes), binds=0)

    def _prepared(
        self, kernel: Kernel, site: CallSite, op: Operation, operands: Sequence[Code], body: Values
    ) -> Sequence[Code] | None:
        """The form of the kernel whose work on parameters is done once, where they are those of
        this block."""
        how = kernel.preparing
        if not self._facts.prepare or how is None or self.owner.outline is None:
            return None
        values = [site.pick(o, op.operands) for o in how.operands]
        if not all(v is not None and body.is_param(v) for v in values):
            return None
        made_of = [c for o in how.operands if (c := site.pick(o, operands)) is not None]
        made = self.owner.preparation.buffer(how.emit(site, operands), made_of)
        return how.emit_with(site, operands, made)

    # --- all of it -----------------------------------------------------------

    def written(self) -> Written:
        """The function, under no name yet. What its text names is known once it is there: then it
        is written again, if anything else has such a name."""
        found = self._written()
        named = {f.__name__ for f in found.functions}
        if found.device:
            named.add("device")
        if not any(map(self._names.has, named - self._taken)):
            return found
        taken = self._taken | named
        again = Scope(
            self.function,
            self.owner,
            self._callees,
            self._facts,
            self._inside,
            self.structs,
            taken,
        )
        return again.written()

    def _written(self) -> Written:
        body = Body(self.function, self, self._names)
        for k, (text, value) in enumerate(zip(self.params, self.function.params, strict=True)):
            body.param(value, text, "number" if k in self._integers else "value")
        body.body(self.function.body)
        body.give(self.function.results)
        return Written(
            "",
            tuple(self._signature),
            tuple(self.symbols.items()),
            self.needs_device,
            self._result(),
            (*self._extents(), *body.lines),
            tuple(body.functions),
            self._takes,
            self.returned,
        )

    def _result(self) -> str:
        types = [
            "Tensor" if isinstance(place, int) else self.structs.title(place)
            for place in places(len(self.function.results), self.returned)
        ]
        if len(types) > 1:
            return f"tuple[{', '.join(types)}]"
        return types[0] if types else "None"


_STORES = {"param": "_parameters", "buffer": "_buffers", "state": "_buffers", "sub": "_modules"}


def is_taken(member: str) -> bool:
    """Whether `of.member` would be no member of that name: every `nn.Module` has an attribute of
    it, or Python takes it for something else."""
    hidden = member.startswith("__")
    known = hasattr(nn.Module, member) or member in nn.Module().__dict__
    return known or hidden or keyword.iskeyword(member)


def attribute(of: str, member: str, kind: str) -> str:
    """A member of a module, also where `is_taken`."""
    if is_taken(member):
        return f'{of}.{_STORES[kind]}["{member}"]'
    return f"{of}.{member}"


def outline_at(outline: Outline, path: Sequence[str | int]) -> Outline:
    """The block that a path leads to."""
    for part in path:
        if isinstance(part, str) and not part.startswith("$"):
            found = outline.sub(part)
            assert isinstance(found, Sub)
            outline = found.block
    return outline
