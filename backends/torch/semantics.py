"""What the tensor IR means where PyTorch has no operation that means the same.

Imports torch alone: the source of these functions may stand in a generated file.
"""

from __future__ import annotations

import torch
from torch import Tensor

# --- casts -------------------------------------------------------------------


def saturated(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Floats as integers of `dtype`: toward zero, the nearest where there is none, 0 for NaN."""
    limits = torch.iinfo(dtype)
    wide = x.to(torch.float64)
    low, beyond = float(limits.min), float(limits.max + 1)
    inside = torch.where((wide > low) & (wide < beyond), wide, 0.0).to(dtype)
    least, most = (torch.tensor(v, dtype=dtype, device=x.device) for v in (limits.min, limits.max))
    return torch.where(wide >= beyond, most, torch.where(wide <= low, least, inside))


def rounded(x: Tensor, dtype: torch.dtype) -> Tensor:
    """`x`, f64 or integers, in f16 or bf16, rounded once.

    PyTorch goes by f32 and rounds twice. Here the first step rounds to odd, which the second
    cannot mistake for a tie.
    """
    if x.dtype in (torch.int64, torch.uint64):
        x = _odd_f64(x)
    x = x.to(torch.float64)
    near = x.to(torch.float32)
    back = near.to(torch.float64)
    inexact = (back != x) & ~torch.isnan(x)
    bits = near.view(torch.int32) - (inexact & (back.abs() > x.abs())).to(torch.int32)
    odd = (bits | inexact.to(torch.int32)).view(torch.float32)
    if near.requires_grad:
        # Bits have no gradient: it is that of the number next to them.
        moved = torch.where(torch.isfinite(near), near + (odd - near).detach(), odd)
        odd = torch.where(inexact, moved, near)
    return odd.to(dtype)


def _odd_f64(x: Tensor) -> Tensor:
    """64-bit integers as f64, rounded to odd."""
    bits = x.view(torch.int64)
    high = bits >> 11
    small = (bits < 2**53) & (bits > -(2**53))
    if x.dtype == torch.uint64:
        high = high & (2**53 - 1)
        small = (bits < 2**53) & (bits >= 0)
    odd = high | ((bits & 2047) != 0).to(torch.int64)
    return torch.where(small, bits.to(torch.float64), odd.to(torch.float64) * 2048.0)


# --- floats ------------------------------------------------------------------


def square_root(x: Tensor) -> Tensor:
    """The root, rounded once. On the CPU, the library that `torch.sqrt` calls for f32 and f64 is
    off by a last bit at times."""
    if x.device.type != "cpu" or x.dtype in (torch.float16, torch.bfloat16):
        return torch.sqrt(x)
    if x.dtype == torch.float32:
        return torch.sqrt(x.to(torch.float64)).to(torch.float32)
    # Roots of complex numbers are not computed by that library.
    root = torch.sqrt(torch.complex(x, torch.zeros_like(x))).real
    return torch.where(x > 0, root, torch.sqrt(x))


def remainder(x: Tensor, y: Tensor) -> Tensor:
    """`fmod`, exact. On the CPU, `torch.fmod` is NaN where the quotient is beyond the dtype."""
    if x.device.type != "cpu":
        return torch.fmod(x, y)
    if x.dtype != torch.float64:
        return torch.fmod(x.to(torch.float64), y.to(torch.float64)).to(x.dtype)
    # A remainder by a multiple of `y` first; by an infinity, nothing is taken away.
    for scale in (2.0**700, 1.0):
        x = torch.fmod(x, y * 2.0**700 * scale)
    return torch.fmod(x, y)


# --- integers ----------------------------------------------------------------


def int_div(x: Tensor, y: Tensor) -> Tensor:
    """The quotient toward zero; 0 where `y` is 0. The least integer by -1 is itself."""
    zero = y == 0
    if x.dtype == torch.uint8:
        return torch.where(zero, 0, x // torch.where(zero, 1, y))
    # The processor traps at the least integer by -1.
    turned = y == -1
    quotient = torch.div(x, torch.where(zero | turned, 1, y), rounding_mode="trunc")
    return torch.where(zero, 0, torch.where(turned, -x, quotient))


def int_rem(x: Tensor, y: Tensor) -> Tensor:
    """What `int_div` leaves, with the sign of `x`; `x` where `y` is 0."""
    return x - int_div(x, y) * y


def ordered(x: Tensor) -> Tensor:
    """u64 as i64 in the same order."""
    return x.view(torch.int64) ^ torch.iinfo(torch.int64).min


def u64_min(x: Tensor, y: Tensor) -> Tensor:
    """The lesser."""
    return torch.where(ordered(x) < ordered(y), x, y)


def u64_max(x: Tensor, y: Tensor) -> Tensor:
    """The greater."""
    return torch.where(ordered(x) < ordered(y), y, x)


def u64_shr(x: Tensor, y: Tensor) -> Tensor:
    """`x` divided by 2 to the power of `y`; 0 where that is 64 or more."""
    a, count = x.view(torch.int64), y.view(torch.int64)
    inside = (count >= 0) & (count < 64)
    by = torch.where(inside, count, 1)
    # Shifted by one without the sign, then the rest.
    half = (a >> 1) & torch.iinfo(torch.int64).max
    moved = torch.where(by == 0, a, half >> (by - 1).clamp(min=0))
    return torch.where(inside, moved, 0).view(torch.uint64)


def u64_div(x: Tensor, y: Tensor) -> Tensor:
    """The quotient; 0 where `y` is 0."""
    a, b = x.view(torch.int64), y.view(torch.int64)
    small = b > 0
    divisor = torch.where(small, b, 1)
    half = (a >> 1) & torch.iinfo(torch.int64).max
    near = torch.div(half, divisor, rounding_mode="trunc") << 1
    left = (a - near * divisor).view(torch.uint64)
    more = ordered(left) >= ordered(divisor.view(torch.uint64))
    large = (ordered(x) >= ordered(y)) & (b < 0)
    return torch.where(small, near + more.to(torch.int64), large.to(torch.int64)).view(torch.uint64)


def u64_rem(x: Tensor, y: Tensor) -> Tensor:
    """What `u64_div` leaves; `x` where `y` is 0."""
    quotient = u64_div(x, y).view(torch.int64)
    return (x.view(torch.int64) - quotient * y.view(torch.int64)).view(torch.uint64)


# --- reductions --------------------------------------------------------------


def largest(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The greatest element over `axes`, NaN if any is; over nothing the least of the dtype."""
    if x.dtype == torch.uint64:
        found = largest(ordered(x), axes) ^ torch.iinfo(torch.int64).min
        return found.view(torch.uint64)
    if all(x.shape[axis] for axis in axes):
        wide = x.to(torch.int64) if x.dtype in (torch.uint16, torch.uint32) else x
        return wide.amax(axes).to(x.dtype)
    least = -torch.inf if x.is_floating_point() else torch.iinfo(x.dtype).min
    return x.new_full(_without(x, axes), least)


def smallest(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The least element over `axes`, NaN if any is; over nothing the greatest of the dtype."""
    if x.dtype == torch.uint64:
        found = smallest(ordered(x), axes) ^ torch.iinfo(torch.int64).min
        return found.view(torch.uint64)
    if all(x.shape[axis] for axis in axes):
        wide = x.to(torch.int64) if x.dtype in (torch.uint16, torch.uint32) else x
        return wide.amin(axes).to(x.dtype)
    most = torch.inf if x.is_floating_point() else torch.iinfo(x.dtype).max
    return x.new_full(_without(x, axes), most)


def _without(x: Tensor, axes: tuple[int, ...]) -> list[int]:
    dropped = {axis % x.ndim for axis in axes}
    return [n for axis, n in enumerate(x.shape) if axis not in dropped]


def sum_of_products(equation: str, *operands: Tensor) -> Tensor:
    """`torch.einsum` of any integers on any device, of floats in any case.

    Of two operands, `einsum` sums one over the indices that the other does not have, before it
    multiplies: `inf * (3 - 1)` is no sum of products. And over nothing, an infinity of another
    operand would be multiplied by 0.
    """
    inputs, output = equation.split("->")
    terms = [list(term) for term in inputs.split(",")]
    extents = {
        i: n for t, x in zip(terms, operands, strict=True) for i, n in zip(t, x.shape, strict=True)
    }
    summed = [i for i in extents if i not in output]
    if not all(extents[i] for i in summed):
        return operands[0].new_zeros([extents[i] for i in output])
    values = list(operands)
    for index in summed:
        having = [k for k, term in enumerate(terms) if index in term]
        if len(having) == 1 and len(terms) > 1:
            other = 0 if having[0] else 1
            values[other] = values[other][..., None].expand(*values[other].shape, extents[index])
            terms[other].append(index)
    if operands[0].is_floating_point() or operands[0].device.type == "cpu":
        found = torch.einsum(f"{','.join(map(''.join, terms))}->{output}", *values)
        return found.to(operands[0].dtype)  # of one operand, a sum of integers is i64
    order = [*output, *summed]
    product = None
    for term, x in zip(terms, values, strict=True):
        placed = x.permute([term.index(i) for i in order if i in term])
        placed = placed[tuple(slice(None) if i in term else None for i in order)]
        product = placed if product is None else product * placed
    assert product is not None
    product = product.expand([extents[i] for i in order])
    axes = tuple(range(len(output), len(order)))
    return product.sum(axes, dtype=product.dtype) if axes else product


def position(index: Tensor) -> Tensor:
    """Positions in i64; a negative one is out of range, where PyTorch counts from the end: it is
    so far below zero that no axis is as long."""
    wide = index.to(torch.int64)
    return torch.where(wide < 0, wide & ~(1 << 62), wide)
