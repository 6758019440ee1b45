"""Lays out units and statements: one method for each name in `linnet.lark`."""

from __future__ import annotations

from typing import Any

from linnet.syntax.format.concrete import Node, Part, Tree, elements, first, last
from linnet.syntax.format.doc import Assigned, Choice, Doc, Hard, Indent, cat
from linnet.syntax.format.exprs import CHAINS, Types
from linnet.syntax.tokens import Token

# Values that are broken in their own braces rather than moved to the next line.
_BRACED = frozenset(
    ["if_expr", "match", "struct", "struct_empty", "struct_generic", "struct_generic_empty"]
)
_BEFORE_BODY = frozenset(["reduce", "reduce_as"])
# Units of one line, which stand together where the author has them so. Between two groups, and
# around what has braces, there is an empty line.
_GROUPS = {
    "header": "module",
    "use_module": "use",
    "use_names": "use",
    "alias_decl": "names",
    "const_decl": "names",
    "member": "members",
}


class Statements(Types):
    """Statements."""

    def assigned(self, head: Doc, equals: Token, value: Node) -> Doc:
        """`head = value`; the value moves to the next line where it fits there."""
        target = cat(head, " ", self.leaf(equals))
        if isinstance(value, Tree) and value.rule in _BRACED:
            return Assigned(target, self.layout(value), None, False)
        beside, below = self.both(value)
        return Assigned(target, beside, below, _breaks_at_operators(value))

    def let(self, word: Node, name: Token, annotation: Node, equals: Token, value: Node) -> Doc:
        return self.assigned(self.declared(word, name, annotation), equals, value)

    def declared(self, word: Node, name: Token, annotation: Node) -> Doc:
        """`let name: Type`."""
        return cat(self.layout(word), " ", self.leaf(name), self.annotated(annotation))

    def annotated(self, annotation: Node) -> Doc:
        """`: Type`, or nothing."""
        if isinstance(annotation, Token) or not annotation.children:
            return ""
        return self.spaced(*annotation.children)

    def let_indexed(self, word: Node, name: Token, open_: Token, *rest: Any) -> Doc:
        indices, close, equals, value = rest
        listed = self.listed(open_, [indices], close, "").doc()
        head = cat(self.layout(word), " ", self.leaf(name), listed)
        return self.assigned(head, equals, value)

    def let_tuple(self, word: Token, open_: Token, names: Node, *rest: Any) -> Doc:
        close, equals, value = rest
        head = cat(self.leaf(word), " ", self.listed(open_, [names], close, "").doc())
        return self.assigned(head, equals, value)

    def assign(self, name: Token, equals: Token, value: Node) -> Doc:
        return self.assigned(self.leaf(name), equals, value)

    def assign_indexed(self, name: Token, open_: Token, indices: Node, *rest: Any) -> Doc:
        close, equals, value = rest
        head = cat(self.leaf(name), self.listed(open_, [indices], close, "").doc())
        return self.assigned(head, equals, value)

    def return_(self, word: Token, value: Node) -> Doc:
        return self.spaced(word, value)

    def while_(self, *parts: Any) -> Doc:
        *head, open_, body, close = parts
        return cat(self.spaced(*head), " ", self.statements(open_, body, close))

    for_each = while_

    def for_range(self, *parts: Any) -> Doc:
        *head, start, dots, stop, open_, body, close = parts
        bounds = self.glued(start, dots, stop)
        return cat(self.spaced(*head), " ", bounds, " ", self.statements(open_, body, close))

    def statements(self, open_: Token, body: Node, close: Token) -> Doc:
        return self.body(open_, elements([body]), close)


class Items(Statements):
    """Units and their parts."""

    def header(self, *parts: Node) -> Doc:
        return self.spaced(*parts)

    use_module = use_renamed = header

    def use_plain(self, name: Token) -> Doc:
        return self.leaf(name)

    def use_names(self, word: Token, path: Node, sign: Token, *rest: Any) -> Doc:
        open_, names, close = rest
        head = cat(self.spaced(word, path), self.leaf(sign))
        return cat(head, self.listed(open_, [names], close, "").doc())

    def function(self, *parts: Any) -> Doc:
        public, kind, name, generics, open_, params, close, *rest = parts
        arrow, result, where, left, body, right = rest
        head = self.head(public, kind, name)
        angles = self.generics(generics)
        given = self.listed(open_, [params], close, "")
        result = cat(" ", self.leaf(arrow), " ", self.layout(result))
        natural = cat(head, angles, given.doc(), result)
        broken = cat(head, angles, given.doc(True), result)
        signature = natural if given.empty else Choice((natural, broken, natural))
        return cat(signature, self.where(where), self.statements(left, body, right))

    def head(self, public: Node, kind: Node, name: Token) -> Doc:
        """`pub kind name`."""
        words = [node for node in (public, kind, name) if first(node)]
        return self.spaced(*words)

    def generics(self, tree: Tree) -> Doc:
        """`<N: Dim>`, or nothing."""
        if not tree.children:
            return ""
        left, listed, right = tree.children
        assert isinstance(left, Token) and isinstance(right, Token)
        return self.listed(left, [listed], right, "").doc()

    def plain_generic(self, name: Token, colon: Token, kind: Token, default: Node) -> Doc:
        return cat(self.glued(name, colon), " ", self.leaf(kind), self.default(default))

    def pack_generic(self, star: Token, *rest: Any) -> Doc:
        return cat(self.leaf(star), self.plain_generic(*rest))

    def param(self, name: Token, colon: Token, type_: Node, default: Node) -> Doc:
        return cat(self.glued(name, colon), " ", self.layout(type_), self.default(default))

    def default(self, tree: Node) -> Doc:
        """` = value`, or nothing."""
        if isinstance(tree, Token) or not tree.children:
            return ""
        return cat(" ", self.spaced(*tree.children))

    def where(self, tree: Tree) -> Doc:
        """What stands between a signature and its `{`: one relation in a line with both, more
        below each other. The last one has no comma."""
        if not tree.children:
            return " "
        word, *listed = tree.children
        relations = elements(listed)
        begin = cat(Hard(), self.layout(word))
        if len(relations) == 1:
            ((relation, comma),) = relations
            return cat(begin, " ", self.layout(relation), self.comma(comma, ""), " ")
        parts: list[Doc] = []
        for n, (relation, comma) in enumerate(relations):
            sign = "," if n < len(relations) - 1 else ""
            blank = n > 0 and self.blank(relation)
            parts += [Hard(blank), self.line(relation), self.comma(comma, sign)]
        return cat(begin, Indent(cat(*parts)), Hard())

    def member(self, kind: Node, name: Token, colon: Token, type_: Node, default: Node) -> Doc:
        declared = cat(self.layout(kind), " ", self.glued(name, colon), " ", self.layout(type_))
        return cat(declared, self.default(default))

    def struct_decl(self, public: Node, word: Token, name: Token, *rest: Any) -> Doc:
        generics, where, open_, fields, close = rest
        head = cat(self.head(public, word, name), self.generics(generics), self.where(where))
        return cat(head, self.body(open_, elements([fields]), close))

    def field(self, name: Token, colon: Token, type_: Node) -> Doc:
        return cat(self.glued(name, colon), " ", self.layout(type_))

    def enum_decl(self, public: Node, word: Token, name: Token, *rest: Any) -> Doc:
        open_, variants, close = rest
        head = self.head(public, word, name)
        return cat(head, " ", self.listed(open_, [variants], close, " ").doc())

    def alias_decl(self, public: Node, word: Token, name: Token, *rest: Any) -> Doc:
        generics, equals, type_ = rest
        head = cat(self.head(public, word, name), self.generics(generics))
        return self.assigned(head, equals, type_)

    def const_decl(self, public: Node, word: Token, name: Token, *rest: Any) -> Doc:
        annotation, equals, value = rest
        head = cat(self.head(public, word, name), self.annotated(annotation))
        return self.assigned(head, equals, value)

    # --- the file

    def file(self, parts: list[Part], length: int) -> Doc:
        """All units of a file with so many characters."""
        return cat(*self.units(parts, None, length)[1:])

    def units(self, parts: list[Part], end: Token | None, length: int) -> list[Doc]:
        """Units, each on a new line, and the comments before `end`, or before the end of a file
        with so many characters."""
        docs: list[Doc] = []
        for n, part in enumerate(parts):
            blank = n > 0 and (_apart(parts[n - 1], part) or self.blank(part.tree))
            above, behind = self.before(first(part.tree)), self.after(part.end or last(part.tree))
            docs += [Hard(blank), above, self.unit(part), behind]
        # A comment at the end does not belong to the braces that it is below.
        apart = bool(parts) and _apart(parts[-1], parts[-1])
        return docs + self.dangling(end, length, bool(parts), apart)

    def unit(self, part: Part) -> Doc:
        if part.end is None:
            return self.layout(part.tree)
        whole: list[Any] = part.tree.children
        public, word, name, generics, where, open_ = whole
        head = cat(self.head(public, word, name), self.generics(generics), self.where(where))
        begin = cat(head, self.leaf(open_))
        inner = self.units(part.members, part.end, 0)
        end = [Hard()] if inner else []
        return cat(begin, Indent(cat(*inner)), *end, part.end.text)


def _apart(above: Part, below: Part) -> bool:
    """Whether there is an empty line between two units, whatever the author wrote."""
    group = _GROUPS.get(above.tree.rule)
    return group is None or group != _GROUPS.get(below.tree.rule)


def _breaks_at_operators(value: Node) -> bool:
    """Whether a value that is too long is broken at its operators and not in its brackets."""
    while isinstance(value, Tree) and value.rule in _BEFORE_BODY:
        value = value.children[-1]
    return isinstance(value, Tree) and value.rule in CHAINS
