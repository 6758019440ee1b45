"""Reads the text form of a module that `text.py` prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import BY_NAME, KINDS, AnyDType, DTypeVar
from linnet.ir.core import NO_ATTRS, Function, Module, Operation, Region, Value
from linnet.ir.library import Absent, Argument, GenericArg, Known, LibraryOp, Parts
from linnet.ir.ops import OPS, AttrKind
from linnet.ir.reader import IRSyntaxError, Reader
from linnet.ir.rules import REDUCTIONS
from linnet.ir.scalar import (
    Access,
    Apply,
    Const,
    DimValue,
    Index,
    Operand,
    Reduce,
    Scalar,
)
from linnet.ir.types import Type


def parse(text: str, symbols: Iterable[Symbol] = ()) -> Module:
    """The module that `text` is, over new symbols but for those of `symbols` that it names.
    An `IRSyntaxError` if it is none."""
    try:
        return _Parser(text, symbols).module()
    except RecursionError:
        raise IRSyntaxError("nested too deeply") from None


@dataclass(frozen=True, slots=True)
class _Open:
    """An expression whose inner ones are being read, up to `close`."""

    close: str
    make: Callable[[tuple[Scalar, ...], AnyDType], Scalar]
    inner: list[Scalar] = field(default_factory=list[Scalar])


class _Parser(Reader):
    """A recursive-descent parser; each method reads one thing."""

    def __init__(self, text: str, symbols: Iterable[Symbol]) -> None:
        super().__init__(text, symbols)
        self._dtypes: dict[str, AnyDType] = dict(BY_NAME)
        self._values: dict[str, Value] = {}

    # --- structure -----------------------------------------------------------

    def module(self) -> Module:
        self._expect("module")
        entry = self._word()
        symbols: list[Symbol] = []
        if self._take("symbols"):
            symbols.append(self._declared())
            while self._take(","):
                symbols.append(self._declared())
        if self._take("dtypes"):
            self._variable()
            while self._take(","):
                self._variable()
        functions: dict[str, Function] = {}
        while self._take("function"):
            function = self._function()
            functions[function.name] = function
        self._next("end")
        return Module(entry, tuple(symbols), functions)

    def _declared(self) -> Symbol:
        pack = self._take("*")
        name = self._next("word")
        return self._symbols.setdefault(name, Symbol(name.partition("~")[0], pack))

    def _variable(self) -> None:
        name = self._next("word")
        self._expect(":")
        if self._tokens[self._at][1] not in KINDS:
            self._fail("expected a kind of dtypes")
        self._dtypes[name] = DTypeVar(name.partition("~")[0], self._next("word"))

    def _function(self) -> Function:
        self._values.clear()
        name = self._word()
        self._expect("(")
        params = self._list(self._definition, ")")
        op = self._op() if self._take("of") else None
        self._expect("{")
        body = self._body("return")
        return Function(name, op, params, body, self._uses())

    def _op(self) -> LibraryOp:
        name = self._word()
        generics = self._list(self._generic, ">") if self._take("<") else ()
        params = self._list(self._named_argument, ")") if self._take("(") else ()
        return LibraryOp(name, generics, params)

    def _generic(self) -> tuple[str, GenericArg]:
        name = self._word()
        if self._take(":"):
            return name, self._dtype()
        self._expect("=")
        return name, self._bracketed(self._dim) if self._peek("[") else self._dim()

    def _named_argument(self) -> tuple[str, Argument]:
        name = self._word()
        self._expect(":")
        return name, self._argument()

    def _argument(self) -> Argument:
        if self._take("none"):
            return Absent()
        if self._take("variant"):
            return Known(self._word())
        if self._take("("):
            return Parts(self._list(self._named_argument, ")"))
        return self._int()

    def _body(self, last: str) -> tuple[Operation, ...]:
        body: list[Operation] = []
        while not self._take(last):
            body.append(self._operation())
        return tuple(body)

    def _uses(self) -> tuple[Value, ...]:
        return self._list(self._use, "}")

    def _operation(self) -> Operation:
        results: list[tuple[str, Type]] = []
        if self._tokens[self._at][0] == "value":
            results.append(self._typed())
            while self._take(","):
                results.append(self._typed())
            self._expect("=")
        name = self._next("word")
        if name not in OPS:
            self._fail(f"there is no operation {name!r}")
        self._expect("(")
        operands = self._list(self._use, ")")
        attrs = self._attrs(name)
        place = self._string() if self._take("@") else None
        regions = tuple(self._region() for _ in range(OPS[name].regions))
        values = tuple(self._define(n, t) for n, t in results)
        return Operation(name, operands, values, attrs, regions, place)

    def _region(self) -> Region:
        self._expect("(")
        params = self._list(self._definition, ")")
        self._expect("{")
        body = self._body("yield")
        return Region(params, body, self._uses())

    # --- values and types ----------------------------------------------------

    def _typed(self) -> tuple[str, Type]:
        name = self._next("value")
        self._expect(":")
        return name, self._type()

    def _definition(self) -> Value:
        return self._define(*self._typed())

    def _define(self, name: str, type: Type) -> Value:
        hint, _, number = name[1:].rpartition(".")
        self._values[number] = Value(self._natural(number), type, hint)
        return self._values[number]

    def _use(self) -> Value:
        number = self._next("value")[1:].rpartition(".")[2]
        if number not in self._values:
            self._fail(f"%{number} is not defined before")
        return self._values[number]

    def _type(self) -> Type:
        if not self._take("tensor"):
            return Type(self._dtype())
        self._expect("[")
        dims = self._list(self._dim, ";")
        dtype = self._dtype()
        self._expect("]")
        return Type(dtype, dims)

    def _dtype(self) -> AnyDType:
        name = self._next("word")
        if name not in self._dtypes:
            self._fail(f"there is no dtype {name!r}")
        return self._dtypes[name]

    # --- attributes ----------------------------------------------------------

    def _attrs(self, name: str) -> Any:
        kinds = OPS[name].attrs
        if not kinds:
            return NO_ATTRS
        self._expect("{")
        attrs: dict[str, Any] = {}
        for attr, kind in kinds.items():
            if attr in OPS[name].optional and self._peek("}"):
                break
            if attrs:
                self._expect(",")
            self._expect(attr)
            self._expect(":")
            attrs[attr] = self._attr(kind)
        self._expect("}")
        return attrs

    def _attr(self, kind: AttrKind) -> Any:
        match kind:
            case "int":
                return self._int()
            case "literal":
                return self._literal()
            case "ints":
                return self._bracketed(self._int)
            case "intlists":
                return self._bracketed(lambda: self._bracketed(self._int))
            case "dim":
                return self._dim()
            case "dims":
                return self._bracketed(self._dim)
            case "dtype":
                return self._dtype()
            case "name":
                return self._word()
            case "path":
                return self._bracketed(self._part)
            case "sources":
                return self._bracketed(lambda: (self._next("word"), self._int()))
            case "bindings":
                return self._bracketed(self._binding)
            case "scalar":
                return self._scalar()

    def _binding(self) -> tuple[Symbol, Dim]:
        symbol = self._declared()
        self._expect("=")
        return symbol, self._dim()

    def _literal(self) -> int | bool | str:
        kind, text = self._tokens[self._at]
        if kind == "string":
            return self._string()
        if text in ("true", "false"):
            return self._next("word") == "true"
        return self._int()

    def _part(self) -> str | int:
        return self._int() if self._tokens[self._at][0] == "int" else self._word()

    def _typing(self) -> AnyDType:
        self._expect(":")
        return self._dtype()

    def _scalar(self) -> Scalar:
        """An expression; a deep one needs no deep stack."""
        open_: list[_Open] = []
        while True:
            found = self._start()
            if isinstance(found, _Open):
                open_.append(found)
                if not self._take(found.close):
                    continue
                found = self._finish(open_.pop())
            while open_:
                open_[-1].inner.append(found)
                if self._take(","):
                    break
                self._expect(open_[-1].close)
                found = self._finish(open_.pop())
            else:
                return found

    def _start(self) -> Scalar | _Open:
        """An expression without others in it, or the head of one with them."""
        kind, text = self._tokens[self._at]
        if kind in ("int", "string") or text in ("-", "true", "false"):
            return Const(self._literal(), self._typing())
        if self._take("#"):
            return Index(self._int(), self._typing())
        self._next("word")
        if text.startswith("$"):
            operand = self._natural(text[1:])
            if self._take("["):
                return _Open("]", lambda inner, dtype: Access(operand, inner, dtype))
            return Operand(operand, self._typing())
        if text == "dim" and self._take("("):
            dim = self._dim()
            self._expect(")")
            return DimValue(dim, self._typing())
        if self._peek("<"):
            return self._reduce(text)
        self._expect("(")
        return _Open(")", lambda inner, dtype: Apply(text, inner, dtype))

    def _finish(self, head: _Open) -> Scalar:
        dtype = self._typing()
        return head.make(tuple(head.inner), dtype)

    def _reduce(self, op: str) -> _Open:
        if op not in REDUCTIONS:
            self._fail(f"there is no reduction {op!r}")
        self._expect("<")
        accumulator = self._dtype()
        self._expect(">")
        indices = self._bracketed(self._bound)
        self._expect("(")

        return _Open(
            ")", lambda inner, dtype: Reduce(cast(Any, op), accumulator, indices, inner, dtype)
        )

    def _bound(self) -> tuple[int, Dim]:
        self._expect("#")
        number = self._int()
        self._expect("<")
        return number, self._dim()
