"""Which declarations a finding may be due to, so that one wrong declaration is one finding.

    fn half(x: Tensor[3; f32]) -> Tensor[3; f16] { return x * 0.5 }    reported: the value is f32
    fn f(x: Tensor[3; f32]) -> Tensor[3; f32] { return half(x) }       not: `half`'s f16 is in doubt

Whatever a statement with a finding names is in doubt. A call that does not fit a parameter in
doubt is not reported, and the result of a function that does not return what it declares is
unknown. Bodies are checked callees first, so that the doubts are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from linnet.check.typed import Local, TMemberDecl, TSub
from linnet.check.types import TensorType
from linnet.dims.dims import Dim, Symbol
from linnet.graphs import depth_first
from linnet.source.diagnostics import Diagnostic

_DTYPES = frozenset({"E2103", "E2104", "E2105", "E2112", "E2114", "E2116"})
_SHAPES = frozenset(
    {"E2110", "E2201", "E2202", "E2203", "E2204", "E2205", "E2206", "E2207", "E2208", "E2210"}
) | {"E3106"}
_BOTH = frozenset({"E2101", "E2109", "E2115", "E2209"})
_NAME = re.compile(r"[A-Za-z_]\w*")


def names_in(text: str) -> list[str]:
    """The names that a piece of source mentions, each once."""
    return list(dict.fromkeys(_NAME.findall(text)))


def kin(code: str) -> frozenset[str]:
    """The codes that a wrong declaration may cause along with `code`."""
    if code in _BOTH:
        return _DTYPES | _SHAPES | _BOTH
    if code in _DTYPES:
        return _DTYPES | _BOTH
    return _SHAPES | _BOTH if code in _SHAPES else frozenset()


@dataclass(frozen=True, slots=True)
class WhereUse:
    """A use of `item` at which relations of its `where` do not hold; `symbols` are the generics
    of the item that these relations mention."""

    item: str
    symbols: frozenset[Symbol]


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """`about` is what it says is wrong: the symbols of a relation that is not provable, or the
    parameters or generics that lack one. It may follow from a finding about one of `follows`."""

    diagnostic: Diagnostic
    about: frozenset[object] = frozenset()
    follows: frozenset[object] = frozenset()


@dataclass(slots=True)
class Doubts:
    """Parameters whose declared types are in doubt, each with the codes that are no news about
    it and the finding why, and the functions that do not return what they declare. `members` has
    the findings that name a block's members: True of a `where` (E2206) that does not hold, False
    of another shape. Of those
    in `exchanged` the axes are in another order than the body asks for, so that they tell one
    generic for another: by those they tell, which each should be."""

    parameters: dict[Local, dict[str, Finding]] = field(
        default_factory=dict[Local, dict[str, Finding]]
    )
    results: set[str] = field(default_factory=set[str])
    exchanged: dict[Local, Mapping[Symbol, Symbol]] = field(
        default_factory=dict[Local, Mapping[Symbol, Symbol]]
    )
    members: dict[tuple[str, object, bool], Finding] = field(
        default_factory=dict[tuple[str, object, bool], Finding]
    )

    def add(self, things: Iterable[object], finding: Finding) -> None:
        """A finding names `things`."""
        codes = dict.fromkeys(kin(finding.diagnostic.code), finding)
        for thing in things:
            if isinstance(thing, Local) and codes:
                self.parameters[thing] = codes | self.parameters.get(thing, {})

    def cause(self, things: Iterable[object], finding: Finding, block: str) -> Finding | None:
        """What a finding of `block` that names `things` follows from: one of shapes from a `where`
        that did not hold, or the other way round, both for the same member."""
        if finding.diagnostic.code not in _SHAPES | {"E2109", "E2209"}:
            return None
        indirect = finding.diagnostic.code == "E2206"
        found = [(block, t) for t in things if isinstance(t, TMemberDecl | TSub)]
        for member in found:
            if (*member, not indirect) in self.members:
                return self.members[*member, not indirect]
        for member in found:
            self.members.setdefault((*member, indirect), finding)
        return None

    def broke(self, block: str, sub: TSub, finding: Finding) -> None:
        """The `where` of a `sub` does not hold."""
        self.members[block, sub, True] = finding

    def exchange(self, things: Iterable[object], order: Mapping[Symbol, Symbol]) -> None:
        """A finding that names `things` is about axes in another order, as `order` says."""
        for thing in things:
            if isinstance(thing, Local) and isinstance(thing.type, TensorType):
                symbols = {d.as_symbol() for d in thing.type.dims if isinstance(d, Dim)}
                if symbols.issuperset(order):
                    self.exchanged[thing] = order

    def about(self, parameter: Local) -> Mapping[str, Finding]:
        """The codes that are no news about an argument for `parameter`, and why."""
        return self.parameters.get(parameter, {})


def callees_first(texts: Mapping[str, str]) -> list[str]:
    """The keys of `texts` in an order in which each comes after those that its text mentions.
    Where they mention each other in a circle the order is that of the file."""
    return depth_first(texts, lambda name: [n for n in names_in(texts[name]) if n in texts])[0]
