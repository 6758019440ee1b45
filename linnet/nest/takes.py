"""Which tensor dtypes a parameter's dtype takes."""

from __future__ import annotations

from collections.abc import Mapping

from linnet import dtypes

# The tensor dtypes that a parameter's dtype takes as they are. 8-bit floats are taken as bytes.
TAKES: Mapping[str, frozenset[str]] = {
    "bool": frozenset({"BOOL"}),
    "i8": frozenset({"I8"}),
    "i16": frozenset({"I16"}),
    "i32": frozenset({"I32"}),
    "i64": frozenset({"I64"}),
    "u8": frozenset({"U8", "F8_E4M3", "F8_E5M2", "F8_E8M0"}),
    "u16": frozenset({"U16"}),
    "u32": frozenset({"U32"}),
    "u64": frozenset({"U64"}),
    "f16": frozenset({"F16"}),
    "bf16": frozenset({"BF16"}),
    "f32": frozenset({"F32"}),
    "f64": frozenset({"F64"}),
}
FLOATS = frozenset(d.value for d in dtypes.FLOATS)
FLOAT_TENSORS = frozenset({"F16", "BF16", "F32", "F64"})


def fits(parameter: str, tensor: str, cast_dtype: bool) -> bool:
    """Whether a tensor's dtype can be that of a parameter."""
    if tensor in TAKES.get(parameter, ()):
        return True
    return cast_dtype and parameter in FLOATS and tensor in FLOAT_TENSORS
