"""Parameters as arrays, one after another, from a checkpoint that was found to fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from linnet.nest.checkpoint import CHUNK, Array, Checkpoint
from linnet.nest.match import ParameterDecl, Report
from linnet.nest.mxfp4 import scale_names
from linnet.nest.random_weights import array_dtype
from linnet.nest.takes import fits
from linnet.nest.words import shape_text
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError
from linnet.source.shown import shown

NAN_SCALE = 255


def read_parameters(
    parameters: Sequence[ParameterDecl],
    report: Report,
    checkpoint: Checkpoint,
    *,
    advance: Callable[[int], None] = lambda done: None,
) -> Iterator[tuple[str, Array]]:
    """Each bound parameter with its values, in its declared dtype.

    An array is a view of the mapped file, or a converted copy where the dtypes
    differ. When the next one is asked for, the pages of the one before are
    given back: whoever copies it elsewhere does not hold it twice, and a view
    that is kept reads its pages again when it is used. Parameters of one
    tensor share one array. A scale of an MXFP4 tensor that is not a number
    raises a `LinnetError`.
    """
    scales = scale_names({p.path: (p.shape, p.dtype) for p in parameters})
    users = Counter(t.name for t in report.bound.values())
    shared: dict[tuple[str, str], Array] = {}
    for parameter in parameters:
        tensor = report.bound.get(parameter.path)
        if tensor is None:
            continue
        array = shared.get((tensor.name, parameter.dtype))
        if array is None:
            if fits(parameter.dtype, tensor.dtype, False):
                array = checkpoint.array(tensor)
            else:
                array = checkpoint.converted(tensor, array_dtype(parameter.dtype))
            if users[tensor.name] > 1:
                shared[tensor.name, parameter.dtype] = array
        problem = None
        if parameter.path in scales:
            problem = refuse_nan_scales(tensor.name, array, tensor.file)
        if problem is not None:
            raise LinnetError([problem])
        yield parameter.path, array
        checkpoint.release(tensor)
        advance(tensor.nbytes)


def refuse_nan_scales(name: str, array: Array, file: Path | None = None) -> Diagnostic | None:
    """An E5002 if a scale byte is 255, the format's NaN, which no weight can have."""
    of = "" if file is None else f"{file}: "
    flat = array.reshape(-1)
    for start in range(0, flat.size, CHUNK):
        wrong = np.flatnonzero(flat[start : start + CHUNK] == NAN_SCALE)
        if wrong.size:
            at = np.unravel_index(start + int(wrong[0]), array.shape)
            place = shape_text([int(i) for i in at])
            message = (
                f"{of}tensor {shown(name)}: the scale at {place} is 255, which is not a number"
            )
            hint = "the file is damaged: scales are powers of two, bytes 0 to 254"
            return Diagnostic("E5002", message, None, help=hint)
    return None
