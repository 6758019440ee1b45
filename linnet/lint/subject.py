"""What a lint looks at: a module that has no errors, as a tree and as a part of a program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from linnet.check.typed import Program, TFunction
from linnet.dims.prover import Facts
from linnet.syntax import ast


@dataclass(frozen=True, slots=True)
class Subject:
    """A module of `program`, by its key."""

    key: str
    tree: ast.Module
    program: Program

    def functions(self) -> Iterator[tuple[ast.FunctionDecl, ast.BlockDecl | None]]:
        """Every function, with the block that it is a method of."""
        for item in self.tree.items:
            if isinstance(item, ast.FunctionDecl):
                yield item, None
            elif isinstance(item, ast.BlockDecl):
                yield from ((method, item) for method in item.methods)

    def typed(self, decl: ast.FunctionDecl, block: ast.BlockDecl | None) -> TFunction:
        """A function as it was checked."""
        owner = "" if block is None else f"{block.name.text}."
        return self.program.functions[f"{self.key}::{owner}{decl.name.text}"]

    def facts(self, function: TFunction) -> Facts:
        """What is assumed in a function's body."""
        block = () if function.block is None else self.program.blocks[function.block].facts
        return Facts((*block, *function.facts))
