"""Lints: what is declared and never used, in the modules that were asked for."""

from __future__ import annotations

from linnet.check.scope import BlockInfo, Scope, World
from linnet.source.diagnostics import Diagnostic


def lint(world: World, finished: list[Scope]) -> None:
    """W1001 to W1003; called only when there are no errors."""
    _imports(world)
    for scope in finished:
        if scope.module.root:
            _locals(scope)
    for info in world.blocks.found.values():
        if info is not None and world.scopes[info.ref.module].root:
            _members(world, info)


def _imports(world: World) -> None:
    for scope in world.scopes.values():
        if not scope.root:
            continue
        for name, span in scope.import_spans.items():
            if name not in scope.used:
                message = f"the import `{name}` is never used"
                world.sink.add(Diagnostic("W1001", message, span, help="remove it"))


def _locals(scope: Scope) -> None:
    for local in scope.locals:
        if local not in scope.reads and not local.name.startswith("_"):
            message = f"`{local.name}` is never read"
            help_ = f"remove it, or name it `_{local.name}`"
            scope.world.sink.add(Diagnostic("W1002", message, local.span, help=help_))


def _members(world: World, info: BlockInfo) -> None:
    typed = info.typed
    for member in (*typed.members.values(), *typed.subs.values()):
        if member.name not in info.used:
            message = f"the member `{member.name}` is never used"
            world.sink.add(Diagnostic("W1003", message, member.span))
    for name, method in info.methods.items():
        if name not in info.public and name not in info.used:
            message = f"the private method `{name}` is never called"
            world.sink.add(Diagnostic("W1003", message, method.span))
