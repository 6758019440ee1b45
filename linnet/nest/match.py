"""Parameters, bindings and checkpoint headers held against each other; reads no tensor data."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

from linnet.nest.bindings import Bindings
from linnet.nest.header import TensorInfo
from linnet.nest.misspelt import nearest
from linnet.nest.report import Kind, Problems
from linnet.nest.takes import fits
from linnet.nest.words import shape_text
from linnet.source.diagnostics import Diagnostic
from linnet.source.files import Span
from linnet.source.shown import shown
from linnet.source.suggest import did_you_mean

if TYPE_CHECKING:
    # It brings NumPy, which `linnet check` does without.
    from linnet.nest.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class ParameterDecl:
    """A parameter under the card's generics; `span` is the place of its declaration."""

    path: str
    shape: tuple[int, ...]
    dtype: str
    optional: bool = False
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome: what each parameter is, what is wrong, and which tensors nothing binds.

    `present` are the parameters that the model has (where the checkpoint is not known, those
    that it must have), `absent` the optional ones without a tensor. Without a checkpoint `bound`
    and `unbound` are empty. `shared` are those whose tensor others claim too, without a tie.

    `settled`: which optional parameters there are is known. `countable`: which parameters are one
    tensor is known too.
    """

    problems: tuple[Diagnostic, ...]
    bound: dict[str, TensorInfo]
    present: tuple[ParameterDecl, ...]
    absent: tuple[ParameterDecl, ...]
    unbound: tuple[TensorInfo, ...]
    shared: tuple[str, ...] = ()
    settled: bool = True
    countable: bool = True


UNKNOWN = Kind("a binding names no parameter", "{} bindings name no parameter")
MISSING = Kind("a parameter has no binding", "{} parameters have no binding")
NOT_FOUND = Kind("the checkpoint lacks a tensor", "the checkpoint lacks {} tensors")
DTYPE = Kind(
    "a tensor has another dtype than its parameter",
    "{} tensors have another dtype than their parameters",
)
SHAPE = Kind(
    "a tensor has another shape than its parameter",
    "{} tensors have another shape than their parameters",
)
SHARED = Kind(
    "one tensor is bound to several parameters", "{} tensors are bound to several parameters"
)
TIED = Kind("a tie cannot be kept", "{} ties cannot be kept")
KINDS = (UNKNOWN, MISSING, NOT_FOUND, DTYPE, SHAPE, SHARED, TIED)


def tensor_names(
    parameters: Iterable[ParameterDecl],
    bindings: Bindings,
    tensors: Container[str] | None,
    tied: Sequence[Sequence[str]] = (),
) -> dict[str, str]:
    """The tensor's name by path, of the parameters that a model has.

    Without a file of bindings it has the optional ones that are among `tensors`, the names of
    its checkpoint; where that is not known (None), it has none of them.
    """
    names: dict[str, str] = dict(bindings)
    if bindings.implicit:
        there = [
            p for p in parameters if (p.path in tensors if tensors is not None else not p.optional)
        ]
        names = {p.path: p.path for p in there}
    return tie(names, tied)


def tie(names: Mapping[str, str], tied: Sequence[Sequence[str]]) -> dict[str, str]:
    """The tensor's name by path: the first bound member of a tie decides for all of it."""
    found = dict(names)
    for group in tied:
        first = next((found[p] for p in group if p in found), None)
        if first is not None:
            found.update(dict.fromkeys(group, first))
    return found


def match(
    parameters: Sequence[ParameterDecl],
    bindings: Bindings,
    checkpoint: Checkpoint | None,
    *,
    cast_dtype: bool = False,
    compare: bool = True,
    tied: Sequence[Sequence[str]] | None = (),
    aside: Container[str] = (),
) -> Report:
    """Check every parameter, binding and header, and report all that does not fit (E5002).

    Without a checkpoint only parameters and bindings are compared; of one that could be read in
    part, the tensors that were read, and of bindings the paths that were. Without `compare` a
    checkpoint only tells which optional parameters there are. `tied` is None where it is not
    known: a parameter without a binding may then have one by a tie, and two of one tensor
    be one.
    `aside` are paths that bindings and ties may name though the model has no such parameters:
    those of the model under the card's own generics, for which the card was written.
    """
    matching = _Match(
        parameters,
        bindings,
        checkpoint,
        cast_dtype=cast_dtype,
        compared=checkpoint if compare else None,
        given_ties=tied,
        aside=aside,
    )
    return matching.run()


@dataclass(slots=True)
class _Match:
    parameters: Sequence[ParameterDecl]
    bindings: Bindings
    checkpoint: Checkpoint | None
    _: KW_ONLY
    cast_dtype: bool
    compared: Checkpoint | None
    given_ties: Sequence[Sequence[str]] | None
    aside: Container[str]
    problems: Problems = field(default_factory=lambda: Problems(KINDS))
    bound: dict[str, TensorInfo] = field(default_factory=dict[str, TensorInfo])
    # Members of ties that no tensor can be: which of them is wrong is not known.
    torn: set[str] = field(default_factory=set[str])
    # Parameters that have no binding for a mistake that is reported: a misspelt path or tie.
    excused: set[str] = field(default_factory=set[str])
    # The ties, with what was most likely meant by a path that is none.
    meant: list[set[str]] = field(default_factory=list[set[str]])
    # Claims on a tensor that others claim too.
    shared: dict[str, None] = field(default_factory=dict[str, None])

    @property
    def tied(self) -> Sequence[Sequence[str]]:
        """The ties that are known."""
        return self.given_ties or ()

    def run(self) -> Report:
        declared = {p.path: p for p in self.parameters}
        self.check_ties(declared)
        settled = self.check_names(declared)
        tensors = self.checkpoint.tensors if self.checkpoint is not None else None
        names = tensor_names(self.parameters, self.bindings, tensors, self.tied)
        there = names.keys() | self.bindings.places.keys()
        present = tuple(p for p in self.parameters if not p.optional or p.path in there)
        absent = tuple(p for p in self.parameters if p.optional and p.path not in there)
        for parameter in present:
            name = names.get(parameter.path)
            if name is None and parameter.path not in self.bindings.places:
                self.missing(parameter)
            elif name is None:
                continue
            elif self.compared is not None:
                self.check_tensor(parameter, name, self.compared)
        self.check_shared({p: n for p, n in names.items() if p in declared})
        used = {names[p] for p in declared if p in names}
        unbound = tuple(t for n, t in (tensors or {}).items() if n not in used)
        return Report(
            self.problems.diagnostics(),
            self.bound,
            present,
            absent,
            unbound,
            tuple(self.shared),
            settled and self.is_settled(),
            TIED not in self.problems.found,
        )

    def is_settled(self) -> bool:
        """Whether bindings, or a checkpoint where paths are the names, tell what is there."""
        if self.bindings.implicit:
            return self.checkpoint is not None and self.checkpoint.whole
        return self.bindings.whole

    def check_names(self, declared: Mapping[str, ParameterDecl]) -> bool:
        """Whether no unknown path may mean an optional parameter."""
        bound = self.bindings.paths()
        unknown = [p for p in bound if p not in declared and p not in self.aside]
        tied = {p for group in self.tied for p in group if any(m in bound for m in group)}
        unused = {p: None for p in declared if p not in bound and p not in tied}
        near = nearest(unknown, unused)
        for path in unknown:
            meant = near.get(path)
            hint = None if meant is None else f"did you mean {shown(meant)}?"
            name = self.bindings.get(path)
            text = shown(path) if name is None else f"{shown(path)}, bound to {shown(name)}"
            self.problems.add(UNKNOWN, text, self.bindings.places.get(path), hint)
        self.excused.update(near.values())
        required = {p for p in near.values() if not declared[p].optional}
        return len(required) == len(unknown)

    def check_ties(self, declared: Mapping[str, ParameterDecl]) -> None:
        for group in self.tied:
            unknown = [p for p in group if p not in declared and p not in self.aside]
            near = nearest(unknown, (p for p in declared if p not in group))
            for path in unknown:
                hint = f"did you mean {shown(near[path])}?" if path in near else None
                self.problems.add(TIED, f"{shown(path)} is no parameter", None, hint)
            self.meant.append({*group, *near.values()})
            if unknown:
                self.excused.update(self.meant[-1])
            kinds = {p: _shown(declared[p]) for p in group if p in declared}
            if len({*kinds.values()}) > 1:
                each = ", ".join(f"{shown(p)} is {k}" for p, k in kinds.items())
                self.problems.add(
                    TIED, f"its members differ: {each}", declared[next(iter(kinds))].span
                )
                self.torn.update(group)
            bound = {p: self.bindings[p] for p in group if p in self.bindings}
            if len({*bound.values()}) > 1:
                each = ", ".join(f"{shown(p)} to {shown(n)}" for p, n in bound.items())
                place = self.bindings.places.get(next(iter(bound)))
                self.problems.add(TIED, f"its members are bound apart: {each}", place)

    def missing(self, parameter: ParameterDecl) -> None:
        text = f"{shown(parameter.path)}, {_declared(parameter)}"
        if self.given_ties is None or parameter.path in self.excused:
            return
        if not self.bindings.implicit:
            if self.bindings.whole:
                self.problems.add(MISSING, text, parameter.span)
        elif self.compared is not None:
            self.not_found(parameter, parameter.path, self.compared)

    def not_found(self, parameter: ParameterDecl, name: str, checkpoint: Checkpoint) -> None:
        if not checkpoint.lacks(name):  # it may be in what could not be read
            return
        text = f"{shown(name)}, for the parameter {shown(parameter.path)}, {_declared(parameter)}"
        place = self.bindings.places.get(parameter.path) or parameter.span
        hint = self.problems.hint(NOT_FOUND, lambda: did_you_mean(name, checkpoint.tensors))
        self.problems.add(NOT_FOUND, text, place, hint)

    def check_tensor(self, parameter: ParameterDecl, name: str, checkpoint: Checkpoint) -> None:
        tensor = checkpoint.tensors.get(name)
        if tensor is None:
            self.not_found(parameter, name, checkpoint)
            return
        if parameter.path in self.torn:
            return
        stored = f"{shown(name)} in {tensor.file}"
        if not fits(parameter.dtype, tensor.dtype, self.cast_dtype):
            text = f"{shown(parameter.path)} is {parameter.dtype}, {stored} is {tensor.dtype}"
            hint = None
            if fits(parameter.dtype, tensor.dtype, True):
                hint = "with `cast_dtype` floating-point tensors are converted as they are read"
            self.problems.add(DTYPE, text, parameter.span, hint)
        if parameter.shape != tensor.shape:
            text = (
                f"{shown(parameter.path)} is {shape_text(parameter.shape)}, "
                f"{stored} is {shape_text(tensor.shape)}"
            )
            self.problems.add(SHAPE, text, parameter.span)
        self.bound[parameter.path] = tensor

    def check_shared(self, names: Mapping[str, str]) -> None:
        paths: dict[str, list[str]] = {}
        for path, name in names.items():
            paths.setdefault(name, []).append(path)
        if self.given_ties is None:
            return
        for name, claims in paths.items():
            if len(claims) > 1 and not any({*claims} <= group for group in self.meant):
                text = f"{shown(name)}, by {' and '.join(shown(p) for p in claims)}"
                self.shared.update(dict.fromkeys(claims))
                hint = "name them in `[weights] tied` of nest.toml if they are meant to be one"
                self.problems.add(SHARED, text, self.bindings.places.get(claims[-1]), hint)


def _declared(parameter: ParameterDecl) -> str:
    return f"declared as {_shown(parameter)}"


def _shown(parameter: ParameterDecl) -> str:
    return f"{shape_text(parameter.shape)} {parameter.dtype}"
