"""What may be typed at a place.

The text around is half typed, so that it is read with a word put in for the one to come, in the
first of some ways that make it readable; the table of names then tells what is asked for there.
Where none does, what the tokens tell is all there is: keywords, items, and names mentioned before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lsprotocol.types import CompletionItemKind

from linnet.check.intrinsics import TABLE
from linnet.dtypes import BY_NAME, KINDS
from linnet.lsp.analysis import Analysis, analyze
from linnet.lsp.complete_use import items_of, next_parts
from linnet.lsp.cursor import Cursor, cursor
from linnet.lsp.declare import ITEMS
from linnet.lsp.declared import Declaration, Kind
from linnet.lsp.hover import described, documentation
from linnet.lsp.probe import WORD, Asked, parts_of_type
from linnet.lsp.resolve import probe, visible_items
from linnet.packages.modules import LoadedModule
from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile, Span
from linnet.syntax import ast
from linnet.syntax.parser import parse
from linnet.syntax.tokens import REDUCTIONS

_KINDS: dict[Kind, CompletionItemKind] = {
    "module": CompletionItemKind.Module,
    "import": CompletionItemKind.Reference,
    "function": CompletionItemKind.Function,
    "method": CompletionItemKind.Method,
    "block": CompletionItemKind.Class,
    "struct": CompletionItemKind.Struct,
    "enum": CompletionItemKind.Enum,
    "alias": CompletionItemKind.Interface,
    "const": CompletionItemKind.Constant,
    "member": CompletionItemKind.Field,
    "field": CompletionItemKind.Field,
    "variant": CompletionItemKind.EnumMember,
    "generic": CompletionItemKind.TypeParameter,
    "parameter": CompletionItemKind.Variable,
    "local": CompletionItemKind.Variable,
    "index": CompletionItemKind.Variable,
}


@dataclass(frozen=True, slots=True)
class Completion:
    """A text that may stand at the place."""

    label: str
    kind: CompletionItemKind
    detail: str = ""
    doc: str | None = None


def completions(
    path: Path, file: SourceFile, offset: int, overlay: Mapping[Path, str]
) -> list[Completion]:
    """What may be typed at a place of the file at a real path."""
    at = cursor(file, offset)
    if at is None:
        return []
    behind = at.use()
    if behind is not None:
        return list(_use(path, [token.text for token in behind], overlay))
    if at.before and at.before[-1].type == "DOT":
        return _Reading(path, at, overlay).parts()
    keywords = [Completion(w, CompletionItemKind.Keyword) for w in sorted(at.words())]
    if at.declares():
        return keywords if at.begins_line() else []
    return _Reading(path, at, overlay).names([*keywords, *_built_in()])


def _use(path: Path, words: list[str], overlay: Mapping[Path, str]) -> Iterator[Completion]:
    if "::" not in words:
        for name in next_parts(path, [w for w in words if w != "."], overlay):
            yield Completion(name, CompletionItemKind.Module)
        return
    end = words.index("::")
    for item in items_of(path, [w for w in words[:end] if w != "."], overlay):
        name = item.name.text
        if name not in words[end:]:
            kind = _KINDS[ITEMS[type(item)]]
            yield Completion(name, kind, item.span.text.partition("\n")[0], item.doc)


def _built_in() -> Iterator[Completion]:
    """What needs no import."""
    for name in TABLE:
        yield Completion(name, CompletionItemKind.Function, "of the prelude")
    for name in sorted(REDUCTIONS - TABLE.keys()):
        yield Completion(name, CompletionItemKind.Function, "reduces in index notation")
    for name in (*BY_NAME, *KINDS, "Dim", "Shape", "Tensor"):
        yield Completion(name, CompletionItemKind.TypeParameter)


@dataclass(slots=True)
class _Reading:
    """The text with the word put in."""

    path: Path
    at: Cursor
    overlay: Mapping[Path, str]

    def names(self, others: list[Completion]) -> list[Completion]:
        """Any name that means something there, arguments that may be named, and `others`; where a
        field or a variant is asked for, these alone."""
        text = self.readable()
        analysis, asked = self.asked(text) if text is not None else (None, None)
        if analysis is None or asked is None:
            return [*self.mentioned(), *others]
        if asked.wanted == "part":
            return _declared(analysis, asked.names)
        arguments = [
            Completion(f"{name} = ", CompletionItemKind.Property, described(analysis, d))
            for name, d in asked.arguments.items()
        ]
        return [*arguments, *_declared(analysis, asked.names), *others]

    def parts(self) -> list[Completion]:
        """What may stand behind the point before the word."""
        text = self.readable()
        if text is None:
            return []
        analysis, asked = self.asked(text)
        if asked is None:
            return []
        if asked.wanted != "value" or asked.base is None:
            return _declared(analysis, asked.names)
        return self.parts_of_value(asked.base)

    def parts_of_value(self, base: Span) -> list[Completion]:
        """The fields of a value, for which the text is checked without what is behind it."""
        text = self.readable("", self.at.before[-1].start)
        analysis = self.check(text) if text is not None else None
        module = self.module(analysis) if analysis is not None else None
        if analysis is None or module is None:
            return []
        type_ = analysis.types.exprs.get(Span(module.file, base.start, base.end))
        return _declared(analysis, parts_of_type(analysis.names, type_))

    def readable(self, word: str = WORD, start: int | None = None) -> str | None:
        """The text with a word put in from `start`, such that the item around can be read."""
        at = self.at
        before = at.text[: at.start if start is None else start]
        after = at.text[at.end :]
        for more in ("", at.closers(), " = 0", ": 0", f"{at.closers()} {{ }}"):
            text = f"{before}{word}{more}{after}"
            if _reads(text, at.start):
                return text
        return None

    def check(self, text: str) -> Analysis:
        return analyze(self.path, {**self.overlay, self.path: text})

    def module(self, analysis: Analysis) -> LoadedModule | None:
        """The module of the text in its check; None if nothing of it could be read."""
        modules = analysis.checked.graph.modules
        return next((m for m in modules if analysis.paths[m.file] == self.path), None)

    def asked(self, text: str) -> tuple[Analysis, Asked | None]:
        """What the word put in is asked for."""
        analysis = self.check(text)
        module = self.module(analysis)
        if module is None:
            return analysis, None
        return analysis, probe(analysis.checked.graph.modules, analysis.types, module)

    def mentioned(self) -> list[Completion]:
        """The items and imports of the module, and what the item around mentions before."""
        analysis = self.check(self.at.text)
        module = self.module(analysis)
        items = visible_items(analysis.checked.graph.modules, module) if module else {}
        words = dict.fromkeys(w for w in self.at.words_of_item() if w not in items)
        variables = [Completion(w, CompletionItemKind.Variable) for w in words]
        return [*variables, *_declared(analysis, items)]


def _reads(text: str, offset: int) -> bool:
    """Whether the item, or the member of a block, at a place can be read."""
    tree = parse(SourceFile("", text), Sink())
    for item in tree.items if tree is not None else ():
        if item.span.start <= offset <= item.span.end:
            if not isinstance(item, ast.BlockDecl) or offset < item.head.end:
                return True
            inside = (*item.members, *item.methods)
            return any(part.span.start <= offset <= part.span.end for part in inside)
    return False


def _declared(analysis: Analysis, names: Mapping[str, Declaration]) -> list[Completion]:
    return [
        Completion(
            name,
            _KINDS[declaration.meant.kind],
            described(analysis, declaration.meant).partition("\n")[0],
            documentation(declaration.meant),
        )
        for name, declaration in names.items()
        if name != WORD
    ]
