"""What a model consists of under given generics: its parameters and states, its entries, and
whether the `where` clauses of its blocks hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from linnet.check.substitute import in_arg, in_relation, in_type
from linnet.check.typed import Program, TBlock, TFunction, TMemberDecl, TParam, TSub
from linnet.check.types import OptionalType, ScalarType, TensorType
from linnet.dims.atoms import sorted_symbols
from linnet.dims.dims import Dim, DimError
from linnet.dims.relations import Relation
from linnet.dtypes import DType
from linnet.lower.bindings import (
    Bound,
    GenericValue,
    bind,
    bind_open,
    check_extent,
    refuse_unknown,
    sub_bindings,
    sub_count,
    type_under,
)
from linnet.lower.fail import fail
from linnet.source.diagnostics import Diagnostic, Related
from linnet.source.files import Span

# More of them than any model has; a mistyped number of layers would be listed for hours.
LIMIT = 500_000


@dataclass(frozen=True, slots=True)
class Instance:
    """A tensor of the model. `optional`: it itself may be absent; `holder` is the path of the
    innermost optional block that holds it, with which it may be absent too."""

    path: str
    kind: Literal["param", "buffer", "state"]
    shape: tuple[int, ...]
    dtype: str
    optional: bool
    span: Span
    holder: str | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """A `where` relation of the block at `path` ("" for the root) that does not hold, or of a
    function; `values` is it with the numbers filled in."""

    path: str
    block: str
    relation: Relation
    values: str
    span: Span

    def report(
        self, code: str = "E2206", place: Span | None = None, root: str | None = None
    ) -> Diagnostic:
        """The finding, at the place of a value that breaks it. `root` is what the block without a
        path is called, else by its key."""
        where = f"`{self.path}`, a `{self.block}`" if self.path else f"`{root or self.block}`"
        message = f"`where {self.relation}` of {where} does not hold: {self.values}"
        return Diagnostic(code, message, place, related=(Related(self.span, "stated here"),))


def parameters(program: Program, root: str, generics: Mapping[str, GenericValue]) -> list[Instance]:
    """Every `param`, `buffer` and `state` of the tree under `root`, in order of declaration."""
    found: list[Instance] = []
    for count, node in enumerate(_tree(program, root, _bound(program, root, generics))):
        if count == LIMIT:
            what = f"`{root}` has more than {LIMIT} parameters and blocks with these generics"
            fail("E5004", what, program.blocks[root].span)
        if isinstance(node.member, TMemberDecl):
            found.append(_instance(node, node.member))
    return found


def entries(program: Program, root: str) -> list[str]:
    """The names of the entries of `root`, in order of declaration."""
    methods = program.blocks[root].methods
    return [name for name, key in methods.items() if program.functions[key].kind == "entry"]


def signature(program: Program, root: str, generics: Mapping[str, GenericValue], entry: str) -> str:
    """An entry as it is declared, with the generics of `root` filled in."""
    block = program.blocks[root]
    function = program.functions[block.methods[entry]]
    refuse_unknown(block.generics, generics, root)
    scope = bind(block.generics, generics)
    own = [("*" if g.kind == "Shape" else "") + g.name for g in function.generics]
    params = [
        f"{p.local.name}: {in_type(p.local.type, scope)}{_default(p)}" for p in function.params
    ]
    head = f"{entry}<{', '.join(own)}>" if own else entry
    return f"{head}({', '.join(params)}) -> {in_type(function.result, scope)}"


def _default(param: TParam) -> str:
    return "" if param.default is None else f" = {param.default.span.text}"


def violations(
    program: Program, root: str, generics: Mapping[str, GenericValue]
) -> list[Violation]:
    """The relations that the blocks of the tree state and these generics do not satisfy."""
    found: list[Violation] = []
    scope = _bound(program, root, generics)
    _check(program.blocks[root], scope, "", found)
    if found:
        # The numbers of the blocks below may make no sense now.
        return found
    # The elements of an array are alike: the first stands for them.
    for node in _tree(program, root, scope, most=1):
        if isinstance(node.member, TSub):
            inner = program.blocks[node.member.block]
            _check(inner, node.inner, node.path, found)
    return found


def unsatisfied(
    program: Program, key: str, generics: Mapping[str, GenericValue]
) -> list[Violation]:
    """The relations of a function and of its block that these generics do not satisfy. What is
    not among `generics` stays open, as does a relation that speaks of it."""
    function = program.functions[key]
    block = program.blocks[function.block] if function.block is not None else None
    owners = [function] if block is None else [block, function]
    scope = bind([g for owner in owners for g in owner.generics], generics)
    found: list[Violation] = []
    for owner in owners:
        _check(owner, scope, "", found)
    return found


def unsatisfied_block(
    program: Program, key: str, generics: Mapping[str, GenericValue]
) -> list[Violation]:
    """As `unsatisfied`, the relations of a block itself; a pack may stay open too."""
    block = program.blocks[key]
    found: list[Violation] = []
    _check(block, bind_open(block.generics, generics), "", found)
    return found


def obligations(
    program: Program, root: str, generics: Mapping[str, GenericValue], entry: str
) -> tuple[Relation, ...]:
    """What the numbers of a call of `entry` must satisfy: its `where`, over the symbols of the
    module that `lower_entry` gives for these generics."""
    block = program.blocks[root]
    function = program.functions[block.methods[entry]]
    every = (*block.generics, *function.generics)
    refuse_unknown(every, generics, root)
    scope = bind(every, generics)
    return tuple(in_relation(relation, scope) for relation in function.facts)


@dataclass(frozen=True, slots=True)
class _Node:
    """A member or sub block of the tree. `scope` binds the generics of the block that declares
    it, `inner` those of the sub block."""

    path: str
    member: TMemberDecl | TSub
    scope: Bound
    inner: Bound
    holder: str | None


def _bound(program: Program, root: str, generics: Mapping[str, GenericValue]) -> Bound:
    block = program.blocks[root]
    refuse_unknown(block.generics, generics, root)
    return bind(block.generics, generics, whole=True)


def _tree(
    program: Program,
    key: str,
    scope: Bound,
    at: str = "",
    holder: str | None = None,
    most: int | None = None,
) -> Iterator[_Node]:
    """The members below a block, of each array at most so many elements."""
    open_ = [_level(program, key, scope, at, holder, most)]
    while open_:
        node = next(open_[-1], None)
        if node is None:
            open_.pop()
            continue
        yield node
        sub = node.member
        if isinstance(sub, TSub):
            within = node.path if sub.optional else node.holder
            below = _level(program, sub.block, node.inner, f"{node.path}.", within, most)
            open_.append(below)


def _level(
    program: Program, key: str, scope: Bound, at: str, holder: str | None, most: int | None
) -> Iterator[_Node]:
    """The members of a block itself."""
    block = program.blocks[key]
    members: list[TMemberDecl | TSub] = [*block.members.values(), *block.subs.values()]
    for member in sorted(members, key=lambda m: m.span.start):
        path = at + member.name
        if isinstance(member, TMemberDecl):
            yield _Node(path, member, scope, {}, holder)
            continue
        inner = sub_bindings(program.blocks[member.block], member, scope)
        for place in islice(_elements(member, scope, path), most):
            yield _Node(place, member, scope, inner, holder)


def _elements(sub: TSub, scope: Bound, path: str) -> Iterator[str]:
    count = sub_count(sub, scope)
    if count is None:
        return iter([path])
    number = count.as_int()
    assert number is not None, path
    return (f"{path}.{i}" for i in range(number))


def _instance(node: _Node, member: TMemberDecl) -> Instance:
    type_ = type_under(member.type, node.scope, member.span)
    if isinstance(type_, OptionalType):
        type_ = type_.inner
    assert isinstance(type_, ScalarType | TensorType) and isinstance(type_.dtype, DType)
    shape: list[int] = []
    for dim in type_.dims if isinstance(type_, TensorType) else ():
        assert isinstance(dim, Dim)
        check_extent(dim, member.span, f"a dimension of `{node.path}`")
        number = dim.as_int()
        assert number is not None, node.path
        shape.append(number)
    return Instance(
        node.path,
        member.kind,
        tuple(shape),
        type_.dtype.value,
        member.optional,
        member.span,
        node.holder,
    )


def _check(owner: TBlock | TFunction, scope: Bound, path: str, found: list[Violation]) -> None:
    for relation in owner.facts:
        try:
            bound = in_relation(relation, scope)
            fails = not bound.symbols() and not bound.holds({})
        except DimError as error:
            found.append(Violation(path, owner.key, relation, str(error), owner.span))
            continue
        if fails:
            values = ", ".join(
                f"{s.name} = {in_arg(Dim.of(s), scope)}" for s in sorted_symbols(relation.symbols())
            )
            found.append(Violation(path, owner.key, relation, values, owner.span))
