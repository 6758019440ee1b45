"""Each operation of the IR as a Python expression on PyTorch tensors, with the exact meaning
that `docs/ir.md` gives it.

An interpreter evaluates each expression by itself; a generator of source nests them into
statements. The expressions name `torch`, the functions that their records list (of
`backends/torch/semantics.py`, or a kernel's), and `device` where a value is made from nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from linnet.backends.code import Code
from linnet.backends.torch.vocabulary.broadcasting import SPREADING, implicit, left_implicit
from linnet.backends.torch.vocabulary.contraction import contract
from linnet.backends.torch.vocabulary.dimensions import dim_code
from linnet.backends.torch.vocabulary.elementwise import ELEMENTWISE, Write
from linnet.backends.torch.vocabulary.gathering import gather
from linnet.backends.torch.vocabulary.moving import MOVING
from linnet.backends.torch.vocabulary.reductions import cumsum, reduce
from linnet.backends.torch.vocabulary.terms import DEVICE, Terms, tensor, torch_dtype
from linnet.dims.dims import Dim
from linnet.dtypes import DType
from linnet.ir.core import Operation

__all__ = [
    "DEVICE",
    "SPREADING",
    "VOCABULARY",
    "as_tensor",
    "code",
    "dim_code",
    "implicit",
    "left_implicit",
    "torch_dtype",
]

VOCABULARY: dict[str, Write] = {
    **ELEMENTWISE,
    **MOVING,
    "gather": gather,
    "reduce": reduce,
    "cumsum": cumsum,
    "contract": contract,
}
"""All but `indexed`, which `vectorize` removes, and what has regions, calls, or reads and writes
parameters and states."""


def code(
    op: Operation, operands: Sequence[Code], dims: Callable[[Dim], Code], device: Code = DEVICE
) -> Code:
    """The value of `op`.

    A `constant` or a `dim` is a Python number where that gives the same bits, and `kind` says so;
    `operands` may be such, or any expression of a tensor of the operand's type. Those of an
    elementwise operation need only broadcast to it. Elsewhere than beside an operand, a number is
    made a tensor by `as_tensor`. `dims` writes an extent, `device` the device of what is made
    from nothing.
    """
    return VOCABULARY[op.name](op, operands, Terms(dims, device))


def as_tensor(of: Code, dtype: DType, device: Code = DEVICE) -> Code:
    """`of` where nothing but a tensor will do: as an argument, a result or a state."""

    def no_dims(dim: Dim) -> Code:
        raise AssertionError(dim)

    return tensor(of, dtype, Terms(no_dims, device))
