"""What a name at a place declares or means: the table that the editor's questions look into."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from linnet.source.files import SourceFile, Span
from linnet.syntax import ast

Kind = Literal[
    "module",
    "import",
    "function",
    "method",
    "block",
    "struct",
    "enum",
    "alias",
    "const",
    "member",
    "field",
    "variant",
    "generic",
    "parameter",
    "local",
    "index",
]

Node = (
    ast.Module
    | ast.UseName
    | ast.Item
    | ast.Member
    | ast.StructField
    | ast.EnumVariant
    | ast.Generic
    | ast.Param
    | ast.Stmt
    | ast.SomePattern
    | ast.IndexName
)


@dataclass(slots=True, eq=False)
class Declaration:
    """A name at the place where it gets its meaning; equal only to itself.

    `parts` are what is declared inside and named from outside: parameters, fields, variants,
    members and methods. `of` is what an import under another name imports, and the sub that the
    variable of a `static for` or of a pattern stands for.
    """

    kind: Kind
    name: str
    span: Span
    node: Node
    module: str
    parts: dict[str, Declaration] = field(default_factory=dict[str, "Declaration"])
    of: Declaration | None = None

    @property
    def meant(self) -> Declaration:
        """The item that an import under another name imports; else the declaration itself."""
        return self.of if self.kind == "import" and self.of is not None else self


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text and its declaration; None where nothing is known of it. `by_type` is one
    that follows from the type of something else, which may be known only without mistakes."""

    span: Span
    declaration: Declaration | None
    by_type: bool = False


@dataclass(slots=True)
class Names:
    """Every name of some modules. A declaration is a mention too. `extents` are those of
    indices."""

    modules: dict[str, Declaration] = field(default_factory=dict[str, Declaration])
    extents: dict[Declaration, str] = field(default_factory=dict[Declaration, str])
    mentions: list[Mention] = field(default_factory=list[Mention])
    _by_file: dict[SourceFile, list[Mention]] = field(
        default_factory=dict[SourceFile, list[Mention]]
    )

    def mention(
        self, span: Span, declaration: Declaration | None, by_type: bool = False
    ) -> Declaration | None:
        """Note a name, and give what it means."""
        self.mentions.append(Mention(span, declaration, by_type))
        return declaration

    def within(self, file: SourceFile) -> list[Mention]:
        """The names of a file, in order."""
        if not self._by_file:
            for mention in self.mentions:
                self._by_file.setdefault(mention.span.file, []).append(mention)
            for found in self._by_file.values():
                found.sort(key=lambda m: m.span.start)
        return self._by_file.get(file, [])

    def at(self, file: SourceFile, offset: int) -> Mention | None:
        """The name at a place, or the one that ends there."""
        found = self.within(file)
        last = bisect_right(found, offset, key=lambda m: m.span.start) - 1
        for mention in reversed(found[max(last - 1, 0) : last + 1]):
            if mention.span.start <= offset <= mention.span.end:
                return mention
        return None

    def of(self, declaration: Declaration) -> Iterable[Mention]:
        """The mentions of a declaration under its own name."""
        return (m for m in self.mentions if m.declaration is declaration)
