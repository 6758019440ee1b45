"""Generated source cut into pieces that a compiler of straight lines takes whole.

Loops, and branches that data decides, stay Python; so does what calls a function that has any.
All that stands between is moved into functions of their own, the body of a loop over blocks too:
that is one function, compiled once, whatever the number of blocks.

    def through(self, tokens):              def through(self, tokens):
        texts = self.embed(tokens)              texts, = through_1(self, tokens)
        for layers in self.pairs:               for layers in self.pairs:
            texts = layers.whole(texts)             texts, = through_2(layers, texts)
        return self.norm(texts)                 value_1, = through_3(self, texts)
                                                return value_1
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from linnet.backends.torch.inductor.reach import Owner, Reach, loops
from linnet.backends.torch.inductor.straight import Straightening, is_plain


@dataclass(frozen=True, slots=True)
class Cut:
    """A file, and the names of the functions in it that are pieces."""

    tree: ast.Module
    pieces: tuple[str, ...]


def cut(text: str, entries: Collection[Owner]) -> Cut:
    """The source `text` in pieces; `entries` are what is called from outside."""
    tree = ast.parse(text)
    reach = Reach.of(tree, entries)
    fresh = _Fresh(_words(tree))
    made: list[ast.FunctionDef] = []
    for owner, function in reach.functions.items():
        if owner in reach.driving:
            variables = loops(function)
            straight = Straightening(lambda c, v=variables: reach.drives(c, v), fresh)
            function.body = straight.body(function.body)
            cutter = _Cutter(function, straight, fresh)
            function.body = cutter.body(function.body)
            made += cutter.made
    tree.body += made
    return Cut(ast.fix_missing_locations(tree), tuple(f.name for f in made))


class _Fresh:
    """Names that nothing has."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def __call__(self, wanted: str) -> str:
        number = 1
        while f"{wanted}_{number}" in self._taken:
            number += 1
        self._taken.add(f"{wanted}_{number}")
        return f"{wanted}_{number}"


def _words(tree: ast.Module) -> set[str]:
    """All that anything is called."""
    fields = ("id", "name", "arg", "attr")
    return {w for n in ast.walk(tree) for f in fields if isinstance(w := getattr(n, f, None), str)}


class _Cutter:
    """Cuts a function whose statements are straightened; `made` are its pieces."""

    def __init__(self, function: ast.FunctionDef, straight: Straightening, fresh: _Fresh) -> None:
        self.made: list[ast.FunctionDef] = []
        self._name = function.name
        self._straight = straight
        self._fresh = fresh
        arguments = [*function.args.args, *function.args.kwonlyargs]
        self._local = {a.arg for a in arguments} | set(_names(function.body, ast.Store))
        self._loads = Counter(_names(function.body, ast.Load))

    def body(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements, those that follow one another without control flow as one call."""
        found: list[ast.stmt] = []
        run: list[ast.stmt] = []
        for statement in statements:
            if self._is_straight(statement):
                run.append(statement)
                continue
            found += self._piece(run)
            run = []
            for block in ("body", "orelse"):
                inner: list[ast.stmt] = getattr(statement, block, [])
                if inner:
                    setattr(statement, block, self.body(inner))
            found.append(statement)
        return [*found, *self._piece(run)]

    def _is_straight(self, statement: ast.stmt) -> bool:
        simple = isinstance(statement, (ast.Assign, ast.Expr))
        return simple and not self._straight.stays(statement.value)

    def _piece(self, run: list[ast.stmt]) -> list[ast.stmt]:
        """A call of `run` as a function, if it computes anything."""
        if all(isinstance(s, ast.Assign) and is_plain(s.value) for s in run):
            return run
        given = _needed(run, self._local)
        own = Counter(_names(run, ast.Load))
        stored = dict.fromkeys(_names(run, ast.Store))
        back = [n for n in stored if n in given or self._loads[n] > own[n]]
        name = self._fresh(self._name)
        self.made.append(_function(name, given, run, back))
        call = ast.Call(_load(name), [_load(n) for n in given], [])
        targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in back]
        line = ast.Assign([ast.Tuple(targets, ast.Store())], call) if back else ast.Expr(call)
        return [ast.copy_location(line, run[0])]


def _function(
    name: str, given: Sequence[str], body: Sequence[ast.stmt], back: Sequence[str]
) -> ast.FunctionDef:
    """`def name(*given)` that returns the tuple `back`."""
    made = ast.parse(f"def {name}({', '.join(given)}):\n    pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    result = ast.Return(ast.Tuple([_load(n) for n in back], ast.Load()))
    made.body = [*body, ast.copy_location(result, body[-1])]
    return made


def _needed(run: Iterable[ast.stmt], local: Collection[str]) -> list[str]:
    """The variables that `run` reads before it assigns them."""
    needed: dict[str, None] = {}
    stored: set[str] = set()
    for statement in run:
        for name in _names([statement], ast.Load):
            if name in local and name not in stored:
                needed[name] = None
        stored |= set(_names([statement], ast.Store))
    return list(needed)


def _names(statements: Iterable[ast.stmt], kind: type[ast.expr_context]) -> list[str]:
    nodes = (n for s in statements for n in ast.walk(s))
    return [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, kind)]


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())
