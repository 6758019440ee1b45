"""Builds the tree while parsing: one method for each name in `linnet.lark`.

A method gets what its alternative is made of, in order, tokens included. The classes share
nothing but `Lists`, whose lists the others receive; which of them has a method makes no
difference. Nothing here keeps state, so one builder serves all files.
"""

from __future__ import annotations

from linnet.syntax.build_exprs import Operands, Operators, Postfixes
from linnet.syntax.build_items import Items, Types
from linnet.syntax.build_parts import Lists
from linnet.syntax.build_stmts import Statements


class Builder(Lists, Items, Types, Statements, Operators, Operands, Postfixes):
    """Everything that the grammar names."""
