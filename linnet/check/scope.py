"""What is visible while one item is checked, and how findings about it are reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from linnet.check.blame import Doubts, Finding, WhereUse, names_in
from linnet.check.explain import Why, explain, settling_too, way_out
from linnet.check.findings import Findings
from linnet.check.intrinsics import PRELUDE
from linnet.check.keys import Constant, Everywhere, Offered, Refused, Sought
from linnet.check.meanings import IndexUse, LoopBlock, Meaning, PreludeFunction
from linnet.check.names import ItemRef, Missing, ModuleRef, ModuleScope
from linnet.check.ondemand import OnDemand, Progress
from linnet.check.origins import Origin
from linnet.check.reorder import together
from linnet.check.typed import (
    Local,
    Program,
    TBlock,
    TExpr,
    TFunction,
    TGeneric,
    TMemberDecl,
    TSub,
)
from linnet.check.types import ERROR, Shape, StructType, TensorType, Type
from linnet.dims.dims import Dim, Symbol
from linnet.dims.prover import Facts, Relation
from linnet.dtypes import BY_NAME
from linnet.source.diagnostics import Diagnostic, Related, Sink
from linnet.source.files import Span
from linnet.syntax import ast


@dataclass(slots=True)
class StructInfo:
    generics: tuple[TGeneric, ...]
    facts: tuple[Relation, ...]
    type: StructType


@dataclass(slots=True)
class AliasInfo:
    generics: tuple[TGeneric, ...]
    type: Type


@dataclass(slots=True)
class BlockInfo:
    """A block, and of each method that was accepted the syntax and the signature. `used` are the
    members mentioned, `broken` the names of members and generics that were reported."""

    ref: ItemRef
    typed: TBlock
    sources: dict[str, ast.FunctionDecl] = field(default_factory=dict[str, ast.FunctionDecl])
    methods: dict[str, TFunction] = field(default_factory=dict[str, TFunction])
    public: set[str] = field(default_factory=set[str])
    broken: set[str] = field(default_factory=set[str])
    used: set[str] = field(default_factory=set[str])


@dataclass(frozen=True, slots=True)
class Makers:
    """How things are worked out. Those who ask do so through the `World`, and need not import
    those who answer."""

    expression: Callable[[Scope, ast.Expr, Type | None], TExpr]
    const: Callable[[World, ItemRef], TExpr | None]
    function: Callable[[World, ItemRef], TFunction]
    struct: Callable[[World, ItemRef], StructInfo]
    alias: Callable[[World, ItemRef], AliasInfo]
    block: Callable[[World, ItemRef], BlockInfo]


@dataclass(slots=True)
class World:
    """All that has been found out about the program's items; each is worked out on demand."""

    scopes: dict[str, ModuleScope]
    findings: Findings
    makers: Makers
    program: Program = field(default_factory=Program)
    progress: Progress = field(default_factory=Progress)
    consts: OnDemand[TExpr] = field(init=False)
    functions: OnDemand[TFunction] = field(init=False)
    structs: OnDemand[StructInfo] = field(init=False)
    aliases: OnDemand[AliasInfo] = field(init=False)
    blocks: OnDemand[BlockInfo] = field(init=False)
    calls: dict[str, dict[str, Span]] = field(default_factory=dict[str, dict[str, Span]])
    # Those of a `where` that was reported: what cannot be proven of them is no second mistake.
    doubtful: set[Symbol] = field(default_factory=set[Symbol])
    doubts: Doubts = field(default_factory=Doubts)
    # How often an argument was right, by its parameter or generic, or by their list.
    accepted: Counter[object] = field(default_factory=Counter[object])
    # By item or method, what its generics, and for a method those of the block, let assume.
    facts: dict[str, Facts] = field(default_factory=dict[str, Facts])
    # By the place of a file or block, the names that its items or methods declare for themselves.
    declared: dict[Span, frozenset[str]] = field(default_factory=dict[Span, frozenset[str]])
    # By item or method, the names of generics that were reported.
    broken: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    @property
    def sink(self) -> Sink:
        return self.findings.sink

    def __post_init__(self) -> None:
        makers, progress = self.makers, self.progress
        self.consts = OnDemand(progress, partial(makers.const, self))
        self.functions = OnDemand(progress, partial(makers.function, self), "E2119")
        self.structs = OnDemand(progress, partial(makers.struct, self))
        self.aliases = OnDemand(progress, partial(makers.alias, self))
        self.blocks = OnDemand(progress, partial(makers.block, self))


@dataclass(slots=True)
class Scope:
    """`broken` are the names of generics that were reported, `subs` the locals that are blocks.
    `statement` is what is being checked, `sources` what else the value of a local was made
    of, `muted` the codes that are not reported for now, each with what they follow from."""

    world: World
    module: ModuleScope
    generics: dict[str, TGeneric] = field(default_factory=dict[str, TGeneric])
    broken: set[str] = field(default_factory=set[str])
    facts: Facts = field(default_factory=Facts)
    block: BlockInfo | None = None
    frames: list[dict[str, Local]] = field(default_factory=list[dict[str, Local]])
    subs: dict[Local, str] = field(default_factory=dict[Local, str])
    indices: dict[str, IndexUse] | None = None
    reads: set[Local] = field(default_factory=set[Local])
    # Those whose dtype nothing but a literal gave.
    loose: set[Local] = field(default_factory=set[Local])
    # Those whose value is a compile-time integer, and how it is written.
    counts: dict[Local, str] = field(default_factory=dict[Local, str])
    locals: list[Local] = field(default_factory=list[Local])
    function: str = ""
    body: tuple[ast.Stmt, ...] = ()
    statement: Span | None = None
    sources: dict[Local, Origin] = field(default_factory=dict[Local, Origin])
    muted: Mapping[str, Finding] = field(default_factory=dict[str, Finding])
    # How many accesses of index notation were reported, each of a known dtype.
    misread: int = 0

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        label: str = "",
        related: Iterable[tuple[Span, str]] = (),
        notes: Iterable[str] = (),
        help: str | None = None,
        folds: Iterable[object] = (),
        why: Why | None = None,
        use: WhereUse | None = None,
        about: Iterable[object] = (),
        follows: Iterable[object] = (),
    ) -> Finding | None:
        """Report a finding. One that shares one of `folds` with an earlier one in the same block
        (or function) is most likely the same mistake: it becomes a further place of that. `why`
        is the relation that is not provable, `use` what asks for it here; `about` and `follows`
        are those of a `Finding`. The finding; None where it is no second mistake."""
        about = frozenset(about) if why is None else why.symbols
        follows = frozenset(follows) if use is None else use.symbols
        if not self.world.doubtful.isdisjoint(about):
            return None
        if why is not None:
            notes, folds = [*why.notes, *notes], [*folds, *why.folds]
            apart = None if use is not None else together(self.shapes(), why.settled)
            help = help or apart or way_out(why.settled)
        places = tuple(Related(s, text) for s, text in related)
        diagnostic = Diagnostic(code, message, span, label, places, tuple(notes), help)
        finding = Finding(diagnostic, about, follows)
        here = self.block.ref.key if self.block else self.function
        cause = self.muted.get(code) or self._cause(finding, here, why)
        if cause is not None:
            self.world.findings.excuse(finding, cause)
        else:
            self.world.findings.add(finding, [_key(here, f) for f in folds])
        return finding

    def _cause(self, finding: Finding, here: str, why: Why | None) -> Finding | None:
        """What a finding follows from, as far as the members that its statement names tell; what
        is named is in doubt from now on."""
        if self.statement is None:
            return None
        named, doubts = self.named_in(self.statement), self.world.doubts
        cause = doubts.cause(named, finding, here)
        doubts.add(named, cause or finding)
        if cause is None and why is not None and why.exchanged is not None:
            doubts.exchange(named, why.exchanged)
        return cause

    @contextmanager
    def mute(self, codes: Mapping[str, Finding]) -> Generator[None]:
        """Report of `codes` only the places inside, along with the findings that they follow
        from."""
        before, self.muted = self.muted, {**codes, **self.muted}
        try:
            yield
        finally:
            self.muted = before

    def named_in(self, span: Span) -> frozenset[object]:
        """The locals, members, subs and constants that `span` names, and what the locals are made
        of."""
        return self.origin(span).all()

    def origin(self, span: Span) -> Origin:
        """What a value that is written at `span` is made of."""
        found: set[object] = set()
        below: list[Origin] = []
        for name in names_in(span.text):
            match self.declared(name):
                case Local() as local:
                    found.add(local)
                    if local in self.sources:
                        below.append(self.sources[local])
                case LoopBlock(local=local, sub=sub):
                    found |= {local, sub}
                case TMemberDecl() | TSub() as member:
                    found.add(member)
                case ItemRef(item=ast.ConstDecl()) as const:
                    found.add(Constant(const.key))
                case _:
                    pass
        return Origin(frozenset(found), tuple(below))

    def require(
        self,
        relation: Relation,
        code: str,
        message: str,
        span: Span,
        label: str = "",
        related: Iterable[tuple[Span, str]] = (),
        notes: Iterable[str] = (),
        use: WhereUse | None = None,
        folds: Iterable[object] = (),
        of_numbers: Callable[[], str] | None = None,
    ) -> bool:
        """Report `message` unless `relation` is proven; `of_numbers` is the way out where it has no
        symbol of which more could be stated."""
        if self.facts.implies(relation):
            return True
        help = of_numbers() if of_numbers is not None and not relation.symbols() else None
        self.unproven(relation, code, message, span, label, related, notes, use, folds, help=help)
        return False

    def unproven(
        self,
        relation: Relation,
        code: str,
        message: str,
        span: Span,
        label: str = "",
        related: Iterable[tuple[Span, str]] = (),
        notes: Iterable[str] = (),
        use: WhereUse | None = None,
        folds: Iterable[object] = (),
        others: Iterable[Relation] = (),
        help: str | None = None,
    ) -> Finding | None:
        """Report `message`, as `relation` is not provable; neither are `others`, which the way out
        has to settle too."""
        why = explain(self.facts, relation, message)
        why = replace(why, settled=settling_too(self.facts, why, others))
        if use is not None and not relation.symbols():
            # Nothing is known of two numbers but that they fail: other items ask for other things.
            why = replace(why, folds=(use, relation))
        return self.error(
            code, message, span, label, related, notes, help, folds=folds, why=why, use=use
        )

    def lookup(self, name: str) -> Meaning:
        """What `name` means here: the innermost declaration, which hides all others. Asking leaves
        no trace."""
        return self.indices[name] if self.indices and name in self.indices else self.declared(name)

    def declared(self, name: str) -> Meaning:
        """What `name` means apart from indices."""
        for frame in reversed(self.frames):
            if name in frame:
                local, block = frame[name], self.block
                if block is None or local not in self.subs:
                    return local
                return LoopBlock(local, block.typed.subs[self.subs[local]])
        if name in self.generics:
            return self.generics[name]
        if self.block is not None:
            typed = self.block.typed
            for names in (typed.members, typed.subs, self.block.methods):
                if name in names:
                    return names[name]
            if name in self.block.broken:
                return Missing(True)
        return Missing(True) if name in self.broken else _in_module(self.module, name)

    def read(self, name: str) -> Meaning:
        """`lookup` where the name is put to use, which the lints ask for."""
        found = self.lookup(name)
        match found:
            case Local():
                self.reads.add(found)
            case LoopBlock(local=local):
                self.reads.add(local)
            case TMemberDecl() | TSub() | TFunction():
                assert self.block is not None
                self.block.used.add(name)
            case ItemRef() | ModuleRef():
                self.module.used.add(name)
            case _:
                pass
        return found

    def declare(self, name: str, type_: Type, mutable: bool, span: Span) -> Local:
        local = Local(name, type_, mutable, span)
        self.frames[-1][name] = local
        self.locals.append(local)
        return local

    def shapes(self) -> Iterator[tuple[str, Shape]]:
        """What is declared here that has axes, or generics, each by its name."""
        for name, local in ((n, v) for frame in self.frames for n, v in frame.items()):
            if isinstance(local.type, TensorType):
                yield name, local.type.dims
        typed = self.block.typed if self.block else None
        for name, member in typed.members.items() if typed else ():
            if isinstance(member.type, TensorType):
                yield name, member.type.dims
        for name, sub in typed.subs.items() if typed else ():
            yield name, tuple(arg for arg in sub.args if isinstance(arg, Dim))

    def visible(self) -> list[str]:
        """Every name that could be meant, for suggestions."""
        names = [n for frame in self.frames for n in frame]
        if self.block:
            typed = self.block.typed
            names += [*typed.members, *typed.subs, *self.block.methods]
        return [*names, *self.generics, *self.module.names()]


def _key(here: str, fold: object) -> object:
    """`fold` as what it is in one block or function."""
    match fold:
        case Everywhere() | Refused():
            return fold
        case Offered(key):
            return Offered(_key(here, key))
        case Sought(key):
            return Sought(_key(here, key))
        case _:
            return here, fold


def _in_module(module: ModuleScope, name: str) -> Meaning:
    found = module.find(name) or BY_NAME.get(name)
    if found is not None:
        return found
    # `Tensor` is the beginning of a type, and nothing by itself.
    if name in PRELUDE and name != "Tensor":
        return PreludeFunction(name)
    return Missing(name in module.broken)


def item_scope(world: World, ref: ItemRef) -> Scope:
    """An empty scope in the module of `ref`."""
    return Scope(world, world.scopes[ref.module], function=ref.key)


def is_error(*types: Type) -> bool:
    return any(t == ERROR for t in types)
