"""From a card to a model that runs.

Everything is checked from sources, card and headers first, and all that is wrong is
one report; only then is tensor data read.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linnet.backends.base import Compiled, check_numerics, get_backend
from linnet.lower.instances import Instance
from linnet.nest.arguments import check_arguments, plain
from linnet.nest.bindings import Bindings, load_bindings
from linnet.nest.card import Card, load_card
from linnet.nest.checkpoint import Array, Checkpoint, read_headers
from linnet.nest.header import SIZE_LIMIT
from linnet.nest.hub import default_files
from linnet.nest.locate import find_files
from linnet.nest.match import ParameterDecl, Report, match
from linnet.nest.model import Model
from linnet.nest.program import CardProgram, Generics, open_card, presence
from linnet.nest.progress import progress as progress_bar
from linnet.nest.random_weights import random_weights
from linnet.nest.read import read_parameters
from linnet.nest.survey import nbytes, size
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.errors import LinnetError, raise_errors
from linnet.source.shown import shown

RANDOM = "random"


def load(
    card: str | os.PathLike[str],
    backend: str = "torch",
    *,
    numerics: str = "fast",
    generics: Generics | None = None,
    weights: str | os.PathLike[str] | None = None,
    cast_dtype: bool = False,
    device: str | None = None,
    offline: bool | None = None,
    progress: bool = True,
    **backend_options: Any,
) -> Model:
    """Load a card: its name among the shipped ones, or its folder.

    `generics` override the card's. `weights` is a `.safetensors` file, a folder
    of them, or `"random"`; without it the card's own checkpoint is fetched.
    `cast_dtype` converts floating-point tensors to the parameters' dtypes.
    Whatever does not fit is one `LinnetError` that lists it all.
    """
    check_arguments(
        {
            "card": card,
            "backend": backend,
            "numerics": numerics,
            "generics": generics,
            "weights": weights,
            "cast_dtype": cast_dtype,
            "device": device,
            "offline": offline,
            "progress": progress,
        }
    )
    policy = check_numerics(numerics)
    chosen = get_backend(backend)
    chosen.check(device, backend_options)
    plan = _plan(card, plain(generics or {}), weights, cast_dtype, offline)
    unbound = tuple(t.name for t in plan.report.unbound)
    if unbound:
        names = ", ".join(shown(n) for n in unbound[:5]) + (", ..." if len(unbound) > 5 else "")
        message = f"{len(unbound)} tensors of the checkpoint are bound to nothing: {names}"
        warnings.warn(message, stacklevel=2)
    if max(nbytes(plan.parameters), nbytes(_states(plan))) > SIZE_LIMIT:
        raise LinnetError([_too_large(plan)])
    try:
        compiled = _compiled(plan, progress)
        runtime = chosen.load(compiled, numerics=policy, device=device, **backend_options)
    except MemoryError:
        raise LinnetError([_too_large(plan)]) from None
    return Model(plan.program, runtime, backend, unbound)


def _compiled(plan: _Plan, progress: bool) -> Compiled:
    """What the backend is given, the parameters read."""
    program = plan.program
    present = presence(p.path for p in plan.parameters)
    return Compiled(
        name=program.card.name,
        entries=program.entries,
        lower=lambda entry, given: program.lower(entry, present, _given(program, entry, given)),
        weights=_read(plan, progress),
        states=program.states(present),
    )


def _states(plan: _Plan) -> list[Instance]:
    return [i for i in plan.program.instances if i.kind == "state"]


def _too_large(plan: _Plan) -> Diagnostic:
    message = (
        f"`{plan.program.card.name}` needs more memory than there is: "
        f"{size(plan.parameters)} of parameters and {size(_states(plan))} of state"
    )
    hint = "bind smaller generics, or a smaller dtype"
    return Diagnostic("E5004", message, None, help=hint)


def _given(program: CardProgram, entry: str, given: Sequence[str]) -> dict[str, bool]:
    """Of each parameter of an entry, whether it is passed, if it may be left out."""
    function = program.program.functions[program.block.methods[entry]]
    return {p.local.name: p.local.name in given for p in function.params}


@dataclass(frozen=True, slots=True)
class _Plan:
    """What was found sound: `parameters` are those that are there. No checkpoint: random."""

    program: CardProgram
    parameters: tuple[ParameterDecl, ...]
    report: Report
    checkpoint: Checkpoint | None


def _plan(
    name: str | os.PathLike[str],
    generics: Generics,
    weights: str | os.PathLike[str] | None,
    cast_dtype: bool,
    offline: bool | None,
) -> _Plan:
    sink = Sink()
    card = load_card(name, sink)
    raise_errors(sink)
    assert card is not None
    program = open_card(card, sink, generics)
    bindings = load_bindings(card, sink)
    checkpoint = None if weights == RANDOM else _headers(card, weights, offline, sink)
    if program is None or bindings is None or (checkpoint is None and weights != RANDOM):
        raise LinnetError(sink)
    if generics:
        _narrow(bindings, program)
    declared = program.declarations(_bound_names(bindings, checkpoint))
    tied = card.weights.tied
    report = match(declared, bindings, checkpoint, cast_dtype=cast_dtype, tied=tied)
    for problem in report.problems:
        sink.add(problem)
    raise_errors(sink)
    absent = frozenset(report.absent)
    there = tuple(p for p in declared if p.path not in absent)
    return _Plan(program, there, report, checkpoint)


def _narrow(bindings: Bindings, program: CardProgram) -> None:
    """Drop the bindings of parameters that only the card's own generics make: a model of fewer
    layers is loaded through the bindings of all of them."""
    there = {i.path for i in program.instances}
    for path in program.paths_of_card() - there:
        bindings.pop(path, None)


def _headers(
    card: Card, weights: str | os.PathLike[str] | None, offline: bool | None, sink: Sink
) -> Checkpoint | None:
    if weights is None:
        files = default_files(card, sink, offline=offline)
    else:
        files = find_files(Path(weights), card, sink)
    return None if files is None else read_headers(files.paths, sink, files.index)


def _bound_names(bindings: Bindings, checkpoint: Checkpoint | None) -> Sequence[str] | None:
    """The paths that are bound to something; None if that is every path there is."""
    if not bindings.implicit:
        return list(bindings)
    return None if checkpoint is None else list(checkpoint.tensors)


def _read(plan: _Plan, show_progress: bool) -> Mapping[str, Array]:
    checkpoint = plan.checkpoint
    if checkpoint is None:
        return dict(random_weights(plan.parameters, tied=plan.program.card.weights.tied))
    total = sum(t.nbytes for t in plan.report.bound.values())
    with progress_bar(f"loading {plan.program.card.name}", total, show_progress) as advance:
        return dict(read_parameters(plan.parameters, plan.report, checkpoint, advance=advance))
