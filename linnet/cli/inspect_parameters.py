"""`linnet inspect --parameters`: the tensors that a model holds, and what they take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from linnet.check.typed import Program, TBlock, TMemberDecl, TSub
from linnet.check.types import GenericArg, OptionalType, ScalarType, TensorType
from linnet.cli.lowered import is_card, refuse_unknown
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import BY_NAME, DType
from linnet.lower.bindings import Bound, bind, bind_open, sub_bindings, sub_count, type_under
from linnet.lower.instances import unsatisfied_block
from linnet.nest.card import card_path
from linnet.nest.generics import Generics
from linnet.nest.own import open_own
from linnet.nest.survey import Survey
from linnet.nest.words import counted, size_text
from linnet.pipeline import check_paths
from linnet.source.diagnostics import Diagnostic, Sink

Extent = int | str
"""A number, or where generics are open what the source says: `H / 2`."""


@dataclass(frozen=True, slots=True)
class Row:
    """A tensor at a path, or those at a path with a `*`, `layers.*.w`, where the length of an array
    is open: `bytes` are then what they take together. `there`: the model has it."""

    path: str
    kind: str
    shape: tuple[Extent, ...]
    dtype: str
    bytes: Extent | None
    optional: bool
    there: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """The tensors of a block, whose generics are None where they are open."""

    block: str
    generics: dict[str, Extent | None]
    rows: tuple[Row, ...]


def parameters(target: str, generics: Generics, sink: Sink) -> tuple[str, dict[str, object]]:
    """The parameters of a card under its generics, or of the outermost blocks of a source."""
    path = card_path(target)
    tables = _of_card(path, generics, sink) if is_card(path) else _of_file(path, generics, sink)
    text = "\n".join(line for table in tables for line in _lines(table))
    return text.rstrip("\n"), {"blocks": [_document(table) for table in tables]}


# --- of a card ---------------------------------------------------------------


def _of_card(path: Path, generics: Generics, sink: Sink) -> list[Table]:
    found = open_own(path, sink, generics)
    if found is None:
        return []
    program = found.program
    bound = bind(program.block.generics, program.generics)
    rows = tuple(_card_rows(found))
    return [Table(program.root, _values(program.block, bound), rows)]


def _card_rows(found: Survey) -> Iterator[Row]:
    there = {p.path for p in found.bound}
    for i in found.program.instances:
        size = BY_NAME[i.dtype].bits // 8
        for extent in i.shape:
            size *= extent
        optional = i.optional or i.holder is not None
        present = i.path in there or (i.kind == "state" and not optional)
        yield Row(i.path, i.kind, i.shape, i.dtype, size, optional, present)


# --- of a source -------------------------------------------------------------


def _of_file(path: Path, generics: Generics, sink: Sink) -> list[Table]:
    result = check_paths([path])
    for finding in result.sink:
        sink.add(finding)
    if sink.errors:
        return []
    program = result.program
    outer = _outermost(program)
    if not outer:
        help_ = "`block Model { param w: Tensor[4; f32] }` declares one"
        sink.add(Diagnostic("E2107", f"{path} has no block", None, help=help_))
        return []
    known = {g.name for block in outer for g in block.generics}
    refuse_unknown(generics, known, f"no block of {path}", sink)
    tables: list[Table] = []
    for block in outer:
        own = {g.name: generics[g.name] for g in block.generics if g.name in generics}
        broken = unsatisfied_block(program, block.key, own)
        for violation in broken:
            sink.add(violation.report())
        if not broken:
            tables.append(_table(program, block, own))
    return tables


def _outermost(program: Program) -> list[TBlock]:
    """The blocks of the modules that were asked for which no other block of these holds."""
    own = {k: b for k, b in program.blocks.items() if k.partition("::")[0] in program.roots}
    held = {sub.block for block in own.values() for sub in block.subs.values()}
    return [block for key, block in own.items() if key not in held]


def _table(program: Program, block: TBlock, generics: Mapping[str, int | str]) -> Table:
    scope = bind_open(block.generics, generics)
    rows = tuple(_rows(program, block, scope, "", 1, False))
    return Table(block.key, _values(block, scope), rows)


def _values(block: TBlock, scope: Bound) -> dict[str, Extent | None]:
    shown = {g.name: _extent(scope[g.binder]) for g in block.generics}
    return {name: None if value in (name, f"[*{name}]") else value for name, value in shown.items()}


def _rows(
    program: Program, block: TBlock, scope: Bound, at: str, count: Dim | int, optional: bool
) -> Iterator[Row]:
    """The members of a block and of those that it holds, in order of declaration."""
    members: list[TMemberDecl | TSub] = [*block.members.values(), *block.subs.values()]
    for member in sorted(members, key=lambda m: m.span.start):
        if isinstance(member, TMemberDecl):
            yield _row(member, scope, at + member.name, count, optional or member.optional)
            continue
        inner = program.blocks[member.block]
        bound = sub_bindings(inner, member, scope)
        length = sub_count(member, scope)
        below = optional or member.optional
        for name, factor in _elements(member.name, length):
            yield from _rows(program, inner, bound, f"{at}{name}.", count * factor, below)


def _elements(name: str, length: Dim | None) -> Sequence[tuple[str, Dim | int]]:
    number = 1 if length is None else length.as_int()
    if length is None:
        return [(name, 1)]
    return (
        [(f"{name}.*", length)] if number is None else [(f"{name}.{i}", 1) for i in range(number)]
    )


def _row(member: TMemberDecl, scope: Bound, path: str, count: Dim | int, optional: bool) -> Row:
    type_ = type_under(member.type, scope, member.span)
    if isinstance(type_, OptionalType):
        type_ = type_.inner
    assert isinstance(type_, ScalarType | TensorType), path
    dims = type_.dims if isinstance(type_, TensorType) else ()
    shape = tuple(f"*{d.name}" if isinstance(d, Symbol) else _extent(d) for d in dims)
    size: Dim | None = (
        Dim.of(type_.dtype.bits // 8) * count if isinstance(type_.dtype, DType) else None
    )
    for extent in dims:
        size = None if size is None or isinstance(extent, Symbol) else size * extent
    nbytes = None if size is None else _extent(size)
    return Row(path, member.kind, shape, str(type_.dtype), nbytes, optional)


def _extent(arg: GenericArg) -> Extent:
    if isinstance(arg, tuple):
        return "[" + ", ".join(f"*{d.name}" if isinstance(d, Symbol) else str(d) for d in arg) + "]"
    number = arg.as_int() if isinstance(arg, Dim) else None
    return str(arg) if number is None else number


# --- how it is shown ---------------------------------------------------------


def _lines(table: Table) -> Iterator[str]:
    generics = ", ".join(n if v is None else f"{n} = {v}" for n, v in table.generics.items())
    yield f"{table.block}{f'<{generics}>' if generics else ''}"
    width = max((len(row.path) for row in table.rows), default=0)
    for row in table.rows:
        shape = f"[{', '.join(map(str, row.shape))}]"
        marks = f"{' optional' if row.optional else ''}{'' if row.there else ' absent'}"
        nbytes = "?" if row.bytes is None else row.bytes
        yield f"  {row.path:<{width}}  {row.kind:<6}  {shape} {row.dtype}  {nbytes}{marks}"
    for kind, total in _totals(table).items():
        size = total.bytes
        told = "of open size" if size is None else counted(size, "byte")
        rounded = f" ({size_text(size)})" if size is not None and size >= 1024 else ""
        yield f"{counted(total.tensors, kind)}, {told}{rounded}"
    yield ""


@dataclass(frozen=True, slots=True)
class Total:
    """How many tensors are there and what they take; None where a size is open."""

    tensors: int
    bytes: int | None


def _totals(table: Table) -> dict[str, Total]:
    """By kind."""
    return {kind: _total(table, kind) for kind in ("param", "buffer", "state")}


def _total(table: Table, kind: str) -> Total:
    sizes = [row.bytes for row in table.rows if row.kind == kind and row.there]
    numbers = [size for size in sizes if isinstance(size, int)]
    return Total(len(sizes), sum(numbers) if len(numbers) == len(sizes) else None)


def _document(table: Table) -> dict[str, object]:
    return {
        "block": table.block,
        "generics": table.generics,
        "tensors": [
            {
                "path": row.path,
                "kind": row.kind,
                "shape": list(row.shape),
                "dtype": row.dtype,
                "bytes": row.bytes,
                "optional": row.optional,
                "there": row.there,
            }
            for row in table.rows
        ],
        "totals": {kind: asdict(total) for kind, total in _totals(table).items()},
    }
