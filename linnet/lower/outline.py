"""What a block declares, for who builds objects of it: its members over its own generics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from linnet.check.substitute import in_type
from linnet.check.typed import Program, TBlock, TMemberDecl, TSub
from linnet.check.types import OptionalType, ScalarType, TensorType
from linnet.dims.dims import Dim, Symbol
from linnet.ir.types import Type
from linnet.lower.bindings import Bound, GenericValue, bind, refuse_unknown, sub_bindings, sub_count
from linnet.lower.own_symbols import as_written
from linnet.lower.presence import Presence, below, is_present, presence_of


@dataclass(frozen=True, slots=True)
class Member:
    """A `param`, `buffer` or `state` that is there."""

    name: str
    kind: Literal["param", "buffer", "state"]
    type: Type


@dataclass(frozen=True, slots=True)
class Sub:
    """A sub block that is there, or an array of `count`; `generics` are what the symbols of its
    outline stand for, over those of the block that holds it."""

    name: str
    block: Outline
    generics: tuple[tuple[Symbol, Dim], ...]
    count: Dim | None


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """A block for certain dtypes and optional members. `symbols` stand for its dimensions, as in
    the functions that are lowered as they are written. Blocks that declare the same are one
    object, and compared as that."""

    key: str
    symbols: tuple[Symbol, ...]
    members: tuple[Member | Sub, ...]

    def sub(self, name: str) -> Sub:
        """The sub block of that name."""
        return next(m for m in self.members if isinstance(m, Sub) and m.name == name)


def outline_of(
    program: Program,
    root: str,
    generics: Mapping[str, GenericValue],
    present: Callable[[str], bool],
) -> tuple[Outline, Mapping[Symbol, Dim]]:
    """The tree of blocks under `root`, and what the symbols of its top stand for. Blocks that
    declare the same are one object."""
    block = program.blocks[root]
    refuse_unknown(block.generics, generics, root)
    scope = bind(block.generics, generics)
    presence = presence_of(program, root, scope, present)
    own, meant = as_written(scope)
    symbols = tuple(s for s, _ in meant)
    return _Outlines(program).of(block, own, symbols, presence), dict(meant)


@dataclass(slots=True)
class _Outlines:
    program: Program
    known: dict[tuple[object, ...], Outline] = field(
        default_factory=dict[tuple[object, ...], Outline]
    )
    alike: dict[tuple[object, ...], Outline] = field(
        default_factory=dict[tuple[object, ...], Outline]
    )

    def of(
        self, block: TBlock, scope: Bound, symbols: tuple[Symbol, ...], presence: Presence
    ) -> Outline:
        key = block.key, tuple(scope.items()), presence
        if key not in self.known:
            declared = [*block.members.values(), *block.subs.values()]
            members = tuple(
                self._member(m, scope)
                if isinstance(m, TMemberDecl)
                else self._sub(m, scope, presence)
                for m in sorted(declared, key=lambda m: m.span.start)
                if not m.optional or is_present(presence, m.name)
            )
            made = Outline(block.key, symbols, members)
            self.known[key] = self.alike.setdefault((block.key, symbols, members), made)
        return self.known[key]

    def _member(self, member: TMemberDecl, scope: Bound) -> Member:
        type_ = in_type(member.type, scope)
        if isinstance(type_, OptionalType):
            type_ = type_.inner
        if isinstance(type_, ScalarType):
            return Member(member.name, member.kind, Type(type_.dtype))
        assert isinstance(type_, TensorType), type_
        dims = tuple(d for d in type_.dims if isinstance(d, Dim))
        return Member(member.name, member.kind, Type(type_.dtype, dims))

    def _sub(self, sub: TSub, scope: Bound, presence: Presence) -> Sub:
        block = self.program.blocks[sub.block]
        own, generics = as_written(sub_bindings(block, sub, scope))
        symbols = tuple(s for s, _ in generics)
        inner = self.of(block, own, symbols, below(presence, sub.name))
        return Sub(sub.name, inner, generics, sub_count(sub, scope))
