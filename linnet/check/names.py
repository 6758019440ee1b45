"""Module scopes: which item a name means, before any item is looked into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from linnet.check.blame import Finding
from linnet.check.findings import Findings
from linnet.check.foreign import DONE, OF_MODULE
from linnet.check.intrinsics import PRELUDE
from linnet.check.keys import Everywhere
from linnet.dtypes import BY_NAME
from linnet.packages.library import in_library
from linnet.source.diagnostics import Diagnostic, Related, Sink
from linnet.source.files import Span
from linnet.source.suggest import did_you_mean
from linnet.syntax import ast


class SourceModule(Protocol):
    """What the checker needs of a module that `packages` found."""

    @property
    def key(self) -> str: ...
    @property
    def tree(self) -> ast.Module: ...
    @property
    def uses(self) -> Mapping[int, str]: ...
    @property
    def package(self) -> str: ...
    @property
    def root(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class ItemRef:
    """An item and the module that declares it."""

    module: str
    item: ast.Item

    @property
    def key(self) -> str:
        return f"{self.module}::{self.item.name.text}"


@dataclass(frozen=True, slots=True)
class ModuleRef:
    """A whole module, imported by `use a.b`."""

    module: str


@dataclass(frozen=True, slots=True)
class Private:
    """An item that is not for other modules."""

    ref: ItemRef


@dataclass(frozen=True, slots=True)
class Missing:
    """No such name. `reported` is the one whose declaration got a finding: its use gets none."""

    reported: bool


@dataclass(slots=True)
class ModuleScope:
    """The names of one module. `broken` are those whose item or import was reported, `used` the
    imports that something mentioned."""

    key: str
    package: str
    tree: ast.Module
    root: bool
    items: dict[str, ItemRef] = field(default_factory=dict[str, ItemRef])
    imports: dict[str, ItemRef | ModuleRef] = field(default_factory=dict[str, ItemRef | ModuleRef])
    import_spans: dict[str, Span] = field(default_factory=dict[str, Span])
    broken: set[str] = field(default_factory=set[str])
    used: set[str] = field(default_factory=set[str])

    def find(self, name: str) -> ItemRef | ModuleRef | None:
        return self.imports.get(name) or self.items.get(name)

    def names(self) -> list[str]:
        return [*self.items, *self.imports]


def lookup_in(module: ModuleScope, name: str) -> ItemRef | Private | Missing:
    """What `name` means to another module that asks `module` for it."""
    ref = module.items.get(name)
    if ref is None:
        return Missing(name in module.broken or not module.tree.complete)
    return ref if ref.item.public else Private(ref)


def refusal(module: ModuleScope, name: ast.Name, found: Private | Missing) -> Diagnostic | None:
    """The finding about another module that names what `module` does not give."""
    if isinstance(found, Private):
        return Diagnostic(
            "E1203",
            f"`{name.text}` of `{module.key}` is private",
            name.span,
            related=(Related(found.ref.item.name.span, "declared without `pub`"),),
            help="write `pub` before its declaration",
        )
    if found.reported:
        return None
    public = [n for n, ref in module.items.items() if ref.item.public]
    message = f"module `{module.key}` has no item `{name.text}`"
    help_ = did_you_mean(name.text, public) or _elsewhere(module, name.text)
    return Diagnostic("E1201", message, name.span, help=help_)


def _elsewhere(module: ModuleScope, name: str) -> str | None:
    """Where what `module` of the library has not is instead, or how else it is done."""
    if module.package != "std":
        return None
    known = OF_MODULE.get(module.key, {}).get(name) or DONE.get(name) or DONE.get(name.lower())
    return in_library(name) or known


def build_scopes(modules: Iterable[SourceModule], findings: Findings) -> dict[str, ModuleScope]:
    """The scopes of all modules, imports resolved; faults are reported once."""
    found = list(modules)
    scopes = {
        m.key: ModuleScope(m.key, m.package, m.tree, m.root, broken=set(m.tree.lost)) for m in found
    }
    for module in found:
        _declare(scopes[module.key], findings.sink)
    for module in found:
        for number, use in enumerate(module.tree.uses):
            target = module.uses.get(number)
            names = [n.alias or n.name for n in use.names or ()] or [use.path.parts[-1]]
            if target is None or target not in scopes:
                scopes[module.key].broken.update(n.text for n in names)
            else:
                _import(scopes[module.key], scopes[target], use, findings)
    return scopes


def _declare(scope: ModuleScope, sink: Sink) -> None:
    for item in scope.tree.items:
        name = item.name
        if name.text in PRELUDE or name.text in BY_NAME:
            scope.broken.add(name.text)
            sink.add(
                Diagnostic(
                    "E1207",
                    f"`{name.text}` is part of the prelude and cannot be redeclared",
                    name.span,
                    help="choose another name",
                )
            )
        elif name.text in scope.items:
            first = scope.items[name.text].item.name.span
            sink.add(
                Diagnostic(
                    "E1204",
                    f"two items are named `{name.text}`",
                    name.span,
                    "declared again",
                    (Related(first, "first declared here"),),
                )
            )
        else:
            scope.items[name.text] = ItemRef(scope.key, item)


def _import(scope: ModuleScope, target: ModuleScope, use: ast.UseDecl, findings: Findings) -> None:
    sink = findings.sink
    if use.names is None:
        _bind(scope, use.path.parts[-1], ModuleRef(target.key), sink)
        return
    for entry in use.names:
        local = entry.alias or entry.name
        found = lookup_in(target, entry.name.text)
        if isinstance(found, ItemRef):
            _bind(scope, local, found, sink)
            continue
        scope.broken.add(local.text)
        finding = refusal(target, entry.name, found)
        if finding is not None:
            lost = finding.code == "E1201" and target.package == scope.package
            keys = [Everywhere(("item", target.key, entry.name.text))] if lost else []
            findings.add(Finding(finding), keys)


def _bind(scope: ModuleScope, name: ast.Name, ref: ItemRef | ModuleRef, sink: Sink) -> None:
    if name.text in PRELUDE or name.text in BY_NAME:
        scope.broken.add(name.text)
        message = f"`{name.text}` is part of the prelude and cannot be redeclared"
        sink.add(Diagnostic("E1207", message, name.span, help="import it under another name"))
    elif name.text in scope.items or name.text in scope.imports:
        other = scope.import_spans.get(name.text) or scope.items[name.text].item.name.span
        sink.add(
            Diagnostic(
                "E1204",
                f"two items are named `{name.text}`",
                name.span,
                "imported here",
                (Related(other, "the other one"),),
                help=f"rename one of them: `{name.text} as ...`",
            )
        )
    else:
        scope.imports[name.text] = ref
        scope.import_spans[name.text] = name.span
