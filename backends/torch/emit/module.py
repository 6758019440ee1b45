"""A file of ordinary PyTorch: a class for each block, a method for each entry."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linnet.backends.code import Code, name
from linnet.backends.constants import fold_constants
from linnet.backends.kernels import Decision, Kernel, Tier
from linnet.backends.selection import decide
from linnet.backends.torch.emit.classes import Classes, definition
from linnet.backends.torch.emit.facts import Facts
from linnet.backends.torch.emit.functions import Inside, Owner, Scope, Written, outline_at
from linnet.backends.torch.emit.layout import laid_out
from linnet.backends.torch.emit.names import Names, base_of
from linnet.backends.torch.emit.preparation import METHOD, Preparation
from linnet.backends.torch.emit.structs import Structs
from linnet.backends.torch.vocabulary import dim_code
from linnet.dims.dims import Dim, Symbol
from linnet.graphs import depth_first
from linnet.ir.core import Module
from linnet.ir.passes.dce import dce
from linnet.ir.passes.vectorize import vectorize
from linnet.ir.walk import callees_first, operations
from linnet.lower.module import AsWritten
from linnet.lower.outline import Member, Outline, Sub

_IMPORT = 88
"""The longest line of an import, as ruff lays them out."""


@dataclass(frozen=True, slots=True)
class Selecting:
    """How kernels are chosen, and whether what they make of parameters alone is made once."""

    kernels: Sequence[Kernel]
    numerics: Tier
    device: str
    prepare: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """Generated source: its text, the root's class, and what each entry is written as there; of
    `functions`, entries outside any block, it is a function. `prepared` are the buffers that its
    function `prepare` fills, by class."""

    text: str
    root: str
    entries: Mapping[str, Written]
    functions: frozenset[str]
    prepared: frozenset[tuple[str, str]]


class Writer:
    """Collects functions and classes of any number of entries of one root."""

    def __init__(
        self,
        title: str,
        root: Outline,
        generics: Mapping[Symbol, Dim],
        selecting: Selecting,
        entries: Collection[str] = (),
        taken: Collection[str] = (),
    ) -> None:
        """`taken` are names that no function and no class of the file may have."""
        self.title = re.sub(r"[^\w .:<>-]", "", title)
        self._root = root
        self._generics = generics
        self._selecting = selecting
        self._names = frozenset(entries)
        self._lowered: dict[str, AsWritten] = {}
        self._elsewhere = frozenset(taken)
        self._begin({"model", METHOD, "NamedTuple"})

    def _begin(self, taken: set[str]) -> None:
        """Nothing is written yet; the file has these names for something else."""
        self._taken = taken
        names = Names(taken | self._elsewhere)
        self._functions = Owner(None, names)
        self._structs = Structs(names)
        self._classes = Classes(names)
        self._entries: dict[str, Written] = {}
        self._outside: set[str] = set()
        self._classes.owner(self._root)

    def entry(self, key: str, lowered: AsWritten) -> None:
        """Write an entry and all that it calls."""
        self._lowered[key] = lowered
        self._write(key, lowered)
        clashes = {f.__name__ for f in self.called()} & self._own()
        if clashes:
            self._begin(self._taken | clashes)
            for each in self._lowered.items():
                self._write(*each)

    def called(self) -> Collection[Callable[..., Any]]:
        """The functions that the file calls and does not define."""
        owners = [*map(self._classes.owner, _inside_out(self._root)), self._functions]
        return dict.fromkeys(f for owner in owners for w in owner.all for f in w.functions)

    def _own(self) -> set[str]:
        """What is defined in the file under a name."""
        titles = {self._classes.title(o) for o in _inside_out(self._root)}
        return titles | self._structs.titles | {w.name for w in self._functions.all}

    def _write(self, key: str, lowered: AsWritten) -> None:
        decisions = self._decisions(lowered)
        chosen = {name for name, d in decisions.items() if d.kernel is not None}
        plain = vectorize(lowered.module)
        module = dce(fold_constants(plain, lambda f: f.name in chosen, lowered.values))
        facts = Facts.of(module, decisions, lowered.values, prepare=self._selecting.prepare)
        own = Inside(self._root, self._classes.title(self._root), self._names)
        at = self._outlines(module, chosen)
        written: dict[str, tuple[Written, Outline | None]] = {}
        for callee in callees_first(module):
            if callee not in at:
                continue
            outline = at[callee]
            owner = self._functions if outline is None else self._classes.owner(outline)
            function = module.functions[callee]
            taken = self._taken | {own.title}
            scope = Scope(function, owner, written, facts, own, self._structs, taken)
            written[callee] = owner.add(scope.written(), base_of(callee)[0]), outline
        self._entries[key], outline = written[module.entry]
        if outline is None:
            self._outside.add(key)

    def _decisions(self, lowered: AsWritten) -> dict[str, Decision]:
        bound = lowered.bound()
        how = self._selecting
        found = decide(bound, how.kernels, how.numerics, how.device)
        return {d.site.callee: d for d in found}

    def _outlines(self, module: Module, chosen: Collection[str]) -> dict[str, Outline | None]:
        """The functions that are called but for those with a kernel, and the blocks that they are
        methods of."""
        of_block = base_of(module.entry)[1] is not None
        found: dict[str, Outline | None] = {module.entry: self._root if of_block else None}
        for caller in reversed(callees_first(module)):
            outline = found.get(caller)
            if caller not in found:
                continue
            for op in operations(module.functions[caller].body):
                if op.name == "call":
                    callee: str = op.attrs["callee"]
                    if callee in chosen:
                        continue
                    if outline is None or base_of(callee)[1] is None:
                        found[callee] = None
                    else:
                        found[callee] = outline_at(outline, op.attrs["at"])
        return found

    @property
    def has_states(self) -> bool:
        """Whether any block keeps a state."""
        members = (m for outline in _inside_out(self._root) for m in outline.members)
        return any(isinstance(m, Member) and m.kind == "state" for m in members)

    def source(self) -> Source:
        """The whole file, which imports what it calls."""
        preparing = self._preparing()
        return Source(
            joined([f'"""{self.title}"""'], self.imports(), self.called(), self.parts()),
            self._classes.title(self._root),
            dict(self._entries),
            frozenset(self._outside),
            frozenset(
                (self._classes.title(o), buffer)
                for o, own in preparing.items()
                for buffer in own.buffers.values()
            ),
        )

    def parts(self) -> list[str]:
        """What the file defines: functions, classes and `model`."""
        self._classes.renew()
        structs = list(self._structs.definitions())
        blocks = [list(self._classes.lines(o)) for o in _inside_out(self._root)]
        functions = [list(definition(w)) for w in self._functions.all]
        preparing = self._preparing()
        last = [list(self._build()), *([list(self._prepare(preparing))] if preparing else [])]
        laid = ["\n".join(laid_out(part)) for part in (*functions, *blocks, *last)]
        return [*structs, *laid]

    def imports(self) -> Mapping[str, set[str]]:
        """What the parts need of the standard library, by module."""
        return {"typing": {"NamedTuple"}} if any(self._structs.definitions()) else {}

    def _preparing(self) -> dict[Outline, Preparation]:
        owners = {o: self._classes.owner(o).preparation for o in _inside_out(self._root)}
        return {o: own for o, own in owners.items() if own.buffers}

    def _build(self) -> Iterator[str]:
        title = self._classes.title(self._root)
        yield f"def model() -> {title}:"
        yield '    """The model, its parameters not set."""'

        def no_symbol(symbol: Symbol) -> Code:
            return name(symbol.name, "number")

        params = self._classes.params(self._root).items()
        numbers = (f"{text}={dim_code(self._generics[s], no_symbol)}" for s, text in params)
        yield f"    return {title}({', '.join(numbers)})"

    def _prepare(self, preparing: Mapping[Outline, Preparation]) -> Iterator[str]:
        yield f"def {METHOD}(root: nn.Module) -> None:"
        yield '    """Compute what is made of parameters alone, each time that they are set."""'
        yield "    for block in root.modules():"
        for outline, own in preparing.items():
            yield f"        if isinstance(block, {self._classes.title(outline)}):"
            yield f"            block.{own.method}()"


def joined(
    head: Sequence[str],
    imports: Mapping[str, Iterable[str]],
    functions: Collection[Callable[..., Any]],
    parts: Sequence[str],
) -> str:
    """A file of its first lines, imports of the standard library, those of PyTorch and of
    `functions`, and what it defines."""
    defined = "".join(f"\n\n{part}\n" for part in parts)
    lines = [*head, "", "from __future__ import annotations", "", *_standard(imports)]
    lines += laid_out(_imports(functions, defined))
    return "\n".join(lines) + "\n" + defined


def _standard(imports: Mapping[str, Iterable[str]]) -> Iterator[str]:
    for module, found in sorted(imports.items()):
        yield f"from {module} import {', '.join(sorted(found))}"
    if imports:
        yield ""


def _imports(functions: Collection[Callable[..., Any]], text: str) -> Iterator[str]:
    if re.search(r"(?<![\w.])torch\.", text):
        yield "import torch"
    if re.search(r"(?<![\w.])F\.", text):
        yield "import torch.nn.functional as F"
    names = {name for name in ("Tensor", "nn") if re.search(rf"(?<![\w.]){name}\b", text)}
    modules: dict[str, set[str]] = {"torch": names} if names else {}
    for function in functions:
        modules.setdefault(function.__module__, set()).add(function.__name__)
    for module, found in sorted(modules.items()):
        line = f"from {module} import {', '.join(sorted(found))}"
        if len(line) <= _IMPORT:
            yield line
        else:
            yield f"from {module} import ("
            yield from (f"    {name}," for name in sorted(found))
            yield ")"


def _inside_out(root: Outline) -> list[Outline]:
    """The blocks of a tree, each after those that it has."""
    return depth_first([root], lambda o: (m.block for m in o.members if isinstance(m, Sub)))[0]
