"""The functions that generated source calls: where they are, and their source.

Those of `semantics.py` and of `kernels/functions` import nothing but PyTorch, and no two files of
these have a name in common: what is used of them may stand in the generated file itself. Others
start kernels of Triton, and are imported.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from linnet.backends.torch import semantics
from linnet.backends.torch.kernels import functions
from linnet.backends.torch.kernels.triton import attention, mxfp4

Function = Callable[..., Any]

_EVERYWHERE = ("__future__", "torch")
"""What every generated file imports."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or a constant of a file, and the names that it uses."""

    names: tuple[str, ...]
    text: str
    uses: frozenset[str]


@dataclass(frozen=True, slots=True)
class File:
    """A file of functions: which module each name is imported from, PyTorch apart, and what it
    defines."""

    imports: dict[str, str]
    definitions: tuple[Definition, ...]


@dataclass(frozen=True, slots=True)
class Pasted:
    """What a file needs to have `functions` in it: names by the module of the standard library
    that they are imported from, definitions, and those that it has to import all the same."""

    imports: dict[str, set[str]]
    definitions: tuple[str, ...]
    others: tuple[Function, ...]


@cache
def names() -> frozenset[str]:
    """Every name that generated source may have from outside, so that it defines none itself."""
    found: set[str] = set()
    for module in _modules():
        file = _file(module)
        found |= {name for d in file.definitions for name in d.names}
        found |= file.imports.keys()
    for launchers in (attention, mxfp4):
        found |= {name for name in vars(launchers) if name.startswith("triton_")}
    return frozenset(found)


def pasted(used: Iterable[Function]) -> Pasted:
    """The source of `used` and of all that it needs, in the order of the files."""
    wanted: dict[str, set[str]] = {}
    others: list[Function] = []
    for function in used:
        if function.__module__ in _modules():
            wanted.setdefault(function.__module__, set()).add(function.__name__)
        else:
            others.append(function)
    imports: dict[str, set[str]] = {}
    definitions: list[str] = []
    for module in sorted(wanted):
        file = _file(module)
        needed = list(_needed(file, wanted[module]))
        definitions += [d.text for d in needed]
        uses = frozenset[str]().union(*(d.uses for d in needed))
        for name in uses & file.imports.keys():
            imports.setdefault(file.imports[name], set()).add(name)
    return Pasted(imports, tuple(definitions), tuple(others))


def _needed(file: File, wanted: set[str]) -> Iterator[Definition]:
    """The definitions of `wanted` and of what these use, in order."""
    by_name = {name: d for d in file.definitions for name in d.names}
    open_, done = list(wanted), set[str]()
    while open_:
        name = open_.pop()
        if name in by_name and name not in done:
            done.add(name)
            open_ += by_name[name].uses
    return (d for d in file.definitions if done & set(d.names))


@cache
def _modules() -> tuple[str, ...]:
    """The files whose functions may be pasted."""
    inner = (f"{functions.__name__}.{m.name}" for m in iter_modules(functions.__path__))
    return (*inner, semantics.__name__)


@cache
def _file(module: str) -> File:
    source = inspect.getsource(import_module(module))
    lines = source.splitlines()
    imports: dict[str, str] = {}
    found: list[Definition] = []
    for node in ast.parse(source).body:
        match node:
            case ast.ImportFrom(module=str(origin), names=aliases) if origin not in _EVERYWHERE:
                imports.update((a.name, origin) for a in aliases)
            case ast.FunctionDef(name=name):
                found.append(_definition(node, (name,), lines))
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                found.append(_definition(node, (name,), lines))
            case _:
                pass
    return File(imports, tuple(found))


def _definition(node: ast.stmt, names_: tuple[str, ...], lines: list[str]) -> Definition:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    start = min([node.lineno, *(d.lineno for d in decorators)])
    text = "\n".join(lines[start - 1 : node.end_lineno])
    uses = frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    return Definition(names_, text, uses)
