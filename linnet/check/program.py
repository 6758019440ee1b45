"""From modules to the typed program: signatures, bodies, recursion, lints."""

from __future__ import annotations

from collections.abc import Iterable

from linnet.check import blocks, consts, declare, forms, statements
from linnet.check.blame import callees_first
from linnet.check.findings import Findings
from linnet.check.lints import lint
from linnet.check.names import ItemRef, SourceModule, build_scopes
from linnet.check.order import dependencies_first
from linnet.check.scope import Makers, Scope, World, item_scope
from linnet.check.typed import Program
from linnet.graphs import depth_first
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import Span
from linnet.syntax import ast

MAKERS = Makers(
    forms.expression,
    consts.const,
    declare.function,
    declare.struct,
    declare.alias,
    blocks.block,
)


def check_modules(modules: Iterable[SourceModule], sink: Sink) -> Program:
    """Check every item of every module. Findings go to `sink`; the program is whole only if
    there are no errors among them."""
    found = list(modules)
    findings = Findings(sink)
    world = World(build_scopes(found, findings), findings, MAKERS)
    world.program.roots = tuple(m.key for m in found if m.root)
    for ref in dependencies_first(world.scopes):
        _signature(world, ref)
    finished: list[Scope] = []
    for scope in world.scopes.values():
        texts = {name: ref.item.span.text for name, ref in scope.items.items()}
        for name in callees_first(texts):
            finished.extend(_bodies(world, scope.items[name]))
    _recursion(world)
    world.findings.settle(world.accepted)
    files = [m.tree.span.file for m in found]
    sink.arrange(files)
    if not sink.errors:
        lint(world, finished)
    return world.program


def _signature(world: World, ref: ItemRef) -> None:
    user, span = item_scope(world, ref), ref.item.name.span
    match ref.item:
        case ast.FunctionDecl():
            world.functions.of(ref, user, span)
        case ast.BlockDecl():
            world.blocks.of(ref, user, span)
        case ast.StructDecl():
            world.structs.of(ref, user, span)
        case ast.AliasDecl():
            world.aliases.of(ref, user, span)
        case ast.ConstDecl():
            world.consts.of(ref, user, span)
        case ast.EnumDecl(variants=variants):
            seen: dict[str, Span] = {}
            for variant in (v.name for v in variants):
                if variant.text in seen:
                    message = f"two variants are named `{variant.text}`"
                    related = [(seen[variant.text], "the first")]
                    user.error("E1205", message, variant.span, related=related)
                seen[variant.text] = variant.span


def _bodies(world: World, ref: ItemRef) -> list[Scope]:
    if isinstance(ref.item, ast.FunctionDecl):
        function = world.program.functions[ref.key]
        scope = item_scope(world, ref)
        scope.generics = {g.name: g for g in function.generics}
        scope.broken.update(world.broken[ref.key])
        scope.facts = world.facts[function.key]
        function.body = statements.body(scope, ref.item, function)
        return [scope]
    info = world.blocks.found.get(ref.key)
    if info is None:
        return []
    out: list[Scope] = []
    for name in callees_first({n: m.span.text for n, m in info.sources.items()}):
        method, function = info.sources[name], info.methods[name]
        scope = blocks.block_scope(world, info)
        scope.generics.update({g.name: g for g in function.generics})
        scope.broken.update(world.broken[function.key])
        scope.facts = world.facts[function.key]
        function.body = statements.body(scope, method, function)
        out.append(scope)
    return out


def _recursion(world: World) -> None:
    """E2119 for each cycle of calls, once."""
    _, cycles = depth_first(world.program.functions, lambda key: world.calls.get(key, {}))
    for cycle in cycles:
        _report_cycle(world, cycle)


def _report_cycle(world: World, cycle: list[str]) -> None:
    """The last call of the cycle, as the file has them, gets the blame."""
    spans = [world.calls[a][b] for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
    last = max(range(len(cycle)), key=lambda i: spans[i].start)
    first = (last + 1) % len(cycle)
    chain = [*cycle[first:], *cycle[:first], cycle[first]]
    names = " -> ".join(f"`{k.rpartition('::')[2]}`" for k in chain)
    message = f"`{chain[0].rpartition('::')[2]}` calls itself"
    help_ = "there is no recursion; `while` and `static for` repeat"
    notes = (f"by way of {names}",)
    world.sink.add(Diagnostic("E2119", message, spans[last], notes=notes, help=help_))
