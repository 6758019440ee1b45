"""Python expressions as backends write them: their text, how tightly it binds, and what it names.

A backend that generates source nests them into statements; one that interprets evaluates each by
itself. Both read the same records, so an operation or a kernel is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

ATOM = 20
"""Of names, calls, subscripts and literals: never put in parentheses."""

_INFIX = {
    "or": 1,
    "and": 2,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "==": 4,
    "!=": 4,
    "|": 5,
    "^": 6,
    "&": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "@": 10,
    "/": 10,
    "//": 10,
    "%": 10,
    "**": 12,
}
_PREFIX = {"not ": 3, "-": 11, "~": 11}
_COMPARE = 4


Kind = Literal["value", "number", "literal"]


@dataclass(frozen=True, slots=True)
class Code:
    """`functions` are called in the text by their `__name__`; a module of the framework that it
    names (`torch`, `F`) is not among them. `binds` is the precedence of its outermost operator.

    `kind`: a `value` of the framework, or a Python number in its place, which a framework takes
    beside a value but not alone: `n / 2` of two numbers would be Python's. A `literal` is a number
    that the dtype it stands for has; a `number` is any integer, as a dimension may be.
    """

    text: str
    functions: tuple[Callable[..., Any], ...] = ()
    binds: int = ATOM
    kind: Kind = "value"

    def __str__(self) -> str:
        return self.text

    def within(self, least: int) -> str:
        """The text where something of this precedence is needed, in parentheses if it has to."""
        return self.text if self.binds >= least else f"({self.text})"


def name(text: str, kind: Kind = "value") -> Code:
    """A name, a literal, or anything else that is one word."""
    return Code(text, binds=11 if text.startswith("-") else ATOM, kind=kind)


def infix(left: Code, operator: str, right: Code) -> Code:
    """`left operator right`, in parentheses what must be; comparisons are never chained."""
    binds = _INFIX[operator]
    least = binds + 1 if binds == _COMPARE or operator == "**" else binds
    text = f"{left.within(least)} {operator} {right.within(binds + 1)}"
    return Code(text, functions_of((left, right)), binds)


def prefix(operator: str, operand: Code) -> Code:
    """`-x`, `~x`, `not x`."""
    binds = _PREFIX[operator]
    return Code(f"{operator}{operand.within(binds)}", operand.functions, binds)


def call(function: str | Callable[..., Any], *arguments: Code, **named: Code) -> Code:
    """`function(arguments, name=named)`; a function that is given as text (`torch.exp`) is one
    of the framework's."""
    written = [*(a.text for a in arguments), *(f"{k}={v.text}" for k, v in named.items())]
    inner = functions_of((*arguments, *named.values()))
    if isinstance(function, str):
        return Code(f"{function}({', '.join(written)})", inner)
    text = f"{function.__name__}({', '.join(written)})"
    return Code(text, tuple(dict.fromkeys((function, *inner))))


def method(of: Code, name_: str, *arguments: Code, **named: Code) -> Code:
    """`of.name(arguments)`."""
    called = call(f"{of.within(ATOM)}.{name_}", *arguments, **named)
    return Code(called.text, functions_of((of, called)))


def subscript(of: Code, *places: Code) -> Code:
    """`of[places]`."""
    inside = ", ".join(p.text for p in places)
    return Code(f"{of.within(ATOM)}[{inside}]", functions_of((of, *places)))


def group(items: Sequence[Code], open_: str = "(", close: str = ")") -> Code:
    """A tuple, or with other brackets a list."""
    comma = "," if len(items) == 1 and open_ == "(" else ""
    text = f"{open_}{', '.join(i.text for i in items)}{comma}{close}"
    return Code(text, functions_of(items))


def functions_of(codes: Iterable[Code]) -> tuple[Callable[..., Any], ...]:
    """The functions that any of them names, each once."""
    return tuple(dict.fromkeys(f for code in codes for f in code.functions))
