"""From a card to a model that runs.

Everything is checked from sources, card and headers first, and all that is wrong is
one report; only then is tensor data read.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from linnet.backends.base import Backend, Compiled, Given, Sources, check_numerics, get_backend
from linnet.ir.core import Module
from linnet.lower.module import AsWritten
from linnet.nest.arguments import check_arguments, device_name, misspelt, plain
from linnet.nest.astray import listed
from linnet.nest.checkpoint import Array, Checkpoint, read_headers
from linnet.nest.generics import Generics
from linnet.nest.header import SIZE_LIMIT
from linnet.nest.hub import default_files
from linnet.nest.locate import find_files
from linnet.nest.lowered import card_sources, lower_card, stored_states
from linnet.nest.model import Model
from linnet.nest.opened import Opened, open_whole
from linnet.nest.presence import presence
from linnet.nest.progress import progress as progress_bar
from linnet.nest.random_weights import random_weights
from linnet.nest.read import read_parameters
from linnet.nest.results import Results
from linnet.nest.survey import Survey, nbytes, size, survey
from linnet.nest.text_files import Origin
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.errors import LinnetError, raise_errors

RANDOM = "random"


def load(
    card: str | os.PathLike[str],
    backend: str = "torch",
    *,
    numerics: str = "fast",
    generics: Generics | None = None,
    weights: str | os.PathLike[str] | None = None,
    tiny: bool = False,
    cast_dtype: bool = False,
    device: object = None,
    offline: bool | None = None,
    progress: bool = True,
    **backend_options: Any,
) -> Model:
    """Load a card: its name among the shipped ones, or its folder.

    `generics` override the card's. `weights` is a `.safetensors` file, a folder
    of them, or `"random"`; without it the card's own checkpoint is fetched.
    `tiny` takes the generics of the card's table `[tiny]`, and random weights
    where none are given.
    `device` is a name such as `"cuda:1"`, or a `torch.device`.
    `cast_dtype` converts floating-point tensors to the parameters' dtypes.
    With `backend="torch"` the model is a `torch.nn.Module`, and has what a `Model` has besides.
    Whatever does not fit is one `LinnetError` that lists it all.
    """
    named = device_name(device)
    check_arguments(
        {
            "card": card,
            "backend": backend,
            "numerics": numerics,
            "generics": generics,
            "weights": weights,
            "tiny": tiny,
            "cast_dtype": cast_dtype,
            "device": named,
            "offline": offline,
            "progress": progress,
        }
    )
    assert named is None or isinstance(named, str)
    policy = check_numerics(numerics)
    chosen = get_backend(backend)
    _check_options(chosen, named, backend_options)
    if tiny and weights is None:
        weights = RANDOM
    plan = _plan(card, plain(generics or {}), weights, tiny, cast_dtype, offline)
    unbound = tuple(t.name for t in plan.report.unbound)
    if unbound:
        names = listed(plan.report)
        count = "a tensor" if len(unbound) == 1 else f"{len(unbound)} tensors"
        verb = "is" if len(unbound) == 1 else "are"
        message = f"{count} of the checkpoint {verb} bound to nothing: {names}"
        warnings.warn(message, stacklevel=2)
    if max(nbytes(plan.bound), nbytes(plan.states)) > SIZE_LIMIT:
        raise LinnetError([_too_large(plan)])
    try:
        results: Results = {}
        compiled = _compiled(plan, progress, results)
        runtime = chosen.load(compiled, numerics=policy, device=named, **backend_options)
    except MemoryError:
        raise LinnetError([_too_large(plan)]) from None
    model = Model(plan.program, runtime, backend, unbound, results, Origin(weights, offline))
    return chosen.hand_out(model, runtime)


def _check_options(backend: Backend, device: str | None, options: Mapping[str, Any]) -> None:
    """Ask the backend; what it refuses may be a misspelt argument of ours."""
    try:
        backend.check(device, options)
    except LinnetError as error:
        raise LinnetError(misspelt(backend.name, options) or error.diagnostics) from None


def _compiled(plan: Survey, progress: bool, results: Results) -> Compiled:
    """What the backend is given, the parameters read. What it has lowered tells `results`."""
    program = plan.program
    present = presence(p.path for p in plan.bound)
    sources = card_sources(program, present)

    def lower(entry: str, given: Given) -> Module:
        lowered = lower_card(program, entry, present, dict(given))
        results[entry, given] = lowered.result
        return lowered.module

    def write(entry: str, given: Given) -> AsWritten:
        written = sources.lower(entry, given)
        results[entry, given] = written.result
        return written

    return Compiled(
        name=program.card.name,
        entries=program.entries,
        lower=lower,
        weights=_read(plan, progress),
        states=stored_states(program, present),
        written=Sources(write, sources.outline),
    )


def _too_large(plan: Survey) -> Diagnostic:
    message = (
        f"`{plan.card.name}` needs more memory than there is: "
        f"{size(plan.bound)} of parameters and {size(plan.states)} of state"
    )
    hint = "bind smaller generics, or a smaller dtype"
    return Diagnostic("E5004", message, None, help=hint)


def _plan(
    name: str | os.PathLike[str],
    generics: Generics,
    weights: str | os.PathLike[str] | None,
    tiny: bool,
    cast_dtype: bool,
    offline: bool | None,
) -> Survey:
    """What was found sound."""
    sink = Sink()
    opened = open_whole(name, sink, generics, tiny=tiny)
    found = None
    if opened is not None:
        if weights is None or weights == RANDOM:
            found = survey(opened, sink)
            raise_errors(sink)  # before anything is downloaded
        if weights != RANDOM:
            checkpoint = _headers(opened, weights, offline, sink)
            found = survey(opened, sink, checkpoint, cast_dtype=cast_dtype)
    raise_errors(sink)
    assert found is not None
    return found


def _headers(
    opened: Opened, weights: str | os.PathLike[str] | None, offline: bool | None, sink: Sink
) -> Checkpoint | None:
    if weights is not None:
        files = find_files(Path(weights), opened.card, sink)
    else:
        assert opened.card is not None, "a card that could not be read is not downloaded"
        files = default_files(opened.card, sink, offline=offline)
    return None if files is None else read_headers(files, sink)


def _read(plan: Survey, show_progress: bool) -> Mapping[str, Array]:
    checkpoint = plan.checkpoint
    if checkpoint is None:
        return dict(random_weights(plan.bound, tied=plan.tied))
    total = sum(t.nbytes for t in plan.report.bound.values())
    with progress_bar(f"loading {plan.card.name}", total, show_progress) as advance:
        return dict(read_parameters(plan.bound, plan.report, checkpoint, advance=advance))
