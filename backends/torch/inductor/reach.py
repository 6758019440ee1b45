"""Which functions of generated source have control flow in them, or call one that has."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

Owner = tuple[str, str]
"""A class, or "" outside any, and a function."""

_FORWARD = "forward"
_CONTROL = (ast.For, ast.While, ast.If, ast.IfExp)


@dataclass(slots=True)
class Reach:
    """The functions of a file. `driving`: those that have control flow, those that call a driving
    one, those called from outside, and with any of them all that a call of it may mean.
    `members`: the classes that an attribute of a module is of, by its name alone."""

    functions: dict[Owner, ast.FunctionDef] = field(default_factory=dict[Owner, ast.FunctionDef])
    members: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    driving: set[Owner] = field(default_factory=set[Owner])

    @staticmethod
    def of(tree: ast.Module, entries: Collection[Owner]) -> Reach:
        found = Reach()
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                found.functions["", node.name] = node
            elif isinstance(node, ast.ClassDef):
                found._class(node)
        for once in ("model", "prepare"):
            found.functions.pop(("", once), None)
        found.driving = set(entries)
        found.driving |= {o for o, f in found.functions.items() if _has_control(f)}
        found._close()
        return found

    def drives(self, call: ast.Call, variables: dict[str, str]) -> bool:
        """Whether a call may be of a driving function; `variables` are the loops' over blocks,
        with the attribute that each goes through."""
        return any(o in self.driving for o in self._meant(call, variables))

    def _class(self, node: ast.ClassDef) -> None:
        for function in node.body:
            if not isinstance(function, ast.FunctionDef):
                continue
            if function.name != "__init__":
                self.functions[node.name, function.name] = function
                continue
            for line in function.body:
                if isinstance(line, ast.Assign):
                    name = member(line.targets[0])
                    self.members.setdefault(name, set()).update(_called(line.value))

    def _close(self) -> None:
        size = -1
        while size != len(self.driving):
            size = len(self.driving)
            for owner, function in self.functions.items():
                variables = loops(function)
                for node in ast.walk(function):
                    if isinstance(node, ast.Call) and self.drives(node, variables):
                        self.driving |= {owner, *self._meant(node, variables)}

    def _meant(self, call: ast.Call, variables: dict[str, str]) -> list[Owner]:
        """What a call may be of, as far as it is of this file."""
        called = call.func
        if isinstance(called, ast.Name) and called.id not in variables:
            return [o for o in [("", called.id)] if o in self.functions]
        name = variables.get(called.id, "") if isinstance(called, ast.Name) else member(called)
        methods = [o for o in self.functions if o[0] and o[1] == name]
        forwards = [(c, _FORWARD) for c in self.members.get(name, ())]
        return methods + [o for o in forwards if o in self.functions]


def member(node: ast.expr) -> str:
    """The last attribute that an expression names, also in `self._modules["name"]`."""
    while isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return node.slice.value
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else ""


def loops(function: ast.FunctionDef) -> dict[str, str]:
    """The variables of the loops over blocks, with the attribute that each goes through."""
    found: dict[str, str] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            found[node.target.id] = member(node.iter)
    return {variable: name for variable, name in found.items() if name}


def _has_control(function: ast.FunctionDef) -> bool:
    return any(isinstance(n, _CONTROL) for n in ast.walk(function))


def _called(node: ast.expr) -> Iterator[str]:
    return (
        n.func.id
        for n in ast.walk(node)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    )
