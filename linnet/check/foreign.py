"""What Python, PyTorch and Rust call things, and how each is said here.

A way out is written for a value `x`; `said` puts the value's own name in its place.
"""

from __future__ import annotations

import re

from linnet.packages.library import ABSENT

# What other languages call the dtypes.
DTYPES = {
    **{f"float{n}": f"f{n}" for n in (16, 32, 64)},
    **{f"int{n}": f"i{n}" for n in (8, 16, 32, 64)},
    **{f"uint{n}": f"u{n}" for n in (8, 16, 32, 64)},
    "bfloat16": "bf16",
    "half": "f16",
    "float": "f32",
    "double": "f64",
    "int": "i64",
    "long": "i64",
    "boolean": "bool",
}
REDUCTIONS = frozenset({"sum", "prod", "any", "all"})
# What packages are imported as there, and the word before their members.
PACKAGES = frozenset(
    ["torch", "nn", "F", "np", "numpy", "jnp", "jax", "tf", "math", "einops", "functional"]
)
NOTHING = frozenset({"None", "none", "newaxis"})

_EXTENT = "extents are part of the type: use the generics that name them"
_REPEAT = "`static for i in 0..n { ... }` repeats"
_DTYPE = "the dtype is part of the type, and no value"
_PLACE = "where a value lies is not said in a program"
_SHAPED = "`reshape(x, [A, B])` changes the shape"
_GROWN = "`reshape(x, [1, A, B])` adds an axis of extent 1"
_SWAPPED = "`permute(x, [1, 0])` reorders the axes"
_REPEATED = "`broadcast_to(x, [A, B])` repeats along axes of extent 1"
_PRODUCT = "write it in index notation: `sum[k] a[i, k] * b[k, j]`"
_POWER = "multiply, or use `exp` and `log`"
_JOINED = "`concat(a, b, axis = 0)` joins tensors"
_CHOSEN = "`select(c, a, x)` chooses element by element"
_PART = "write it as an index: `x[a:b]`"
_KEPT = "write `x`: values never change"
_MEAN = "divide a sum: `(sum[i] x[i]) / N`"
_LARGEST = "reduce in index notation: `max[i] x[b, i]`"
_LEAST = "reduce in index notation: `min[i] x[b, i]`"
_BLOCK = "a module of a network is a `block`, plain data a `struct`"
_TENSOR = "a tensor type names dimensions and dtype: `Tensor[N; f32]`"
_TEXT = "there are no strings among the values"
_TRUNCATED = "`cast<f32>(cast<i64>(x))` rounds toward zero"
_COPIES = "join copies: `concat(x, x, axis = 0)`"
_SPREAD = "divide the sum of squared distances from the mean: `(sum[i] d[i] * d[i]) / N`"
_ORDERED = "`use std.nn.decoding::{top_k}`, which gives the greatest, in order"
_KEY = "a key is an argument, `key: Tensor[2; i64]`; the one of the seed 7 is `7 * iota<i64>(2)`"
_EVEN = "`use std.random::{uniform}`: random numbers come from a key"
_NORMAL = "`use std.random::{normal}`: random numbers come from a key"
_RESIZED = "`use std.nn.resize::{upsample_nearest2d}`"

# What a function or method of this name does is done so.
DONE = {
    "view": _SHAPED,
    "rearrange": "`reshape(x, [A, B])` changes the shape, `permute(x, [1, 0])` reorders the axes",
    "squeeze": "`reshape(x, [A, B])` drops an axis of extent 1",
    "unsqueeze": _GROWN,
    "expand_dims": _GROWN,
    "transpose": _SWAPPED,
    "swapaxes": _SWAPPED,
    "expand": _REPEATED,
    "tile": _COPIES,
    "flatten": _SHAPED,
    "repeat": _COPIES,
    "repeat_interleave": "name what each is a copy of: `let y[i] = x[iota<i64>(2 * N)[i] / 2]`",
    "roll": "join two parts: `concat(x[N - 1:N], x[0:N - 1], axis = 0)`",
    "flip": "count from the end: `let y[i] = x[N - 1 - iota<i64>(N)[i]]`",
    "len": _EXTENT,
    "size": _EXTENT,
    "range": _REPEAT,
    "enumerate": _REPEAT,
    "bmm": _PRODUCT,
    "mm": _PRODUCT,
    "matmul": _PRODUCT,
    "einsum": _PRODUCT,
    "dot": "write it in index notation: `sum[k] a[k] * b[k]`",
    "outer": "write it in index notation: `let y[i, j] = a[i] * b[j]`",
    "mean": _MEAN,
    "amax": _LARGEST,
    "amin": _LEAST,
    "maximum": "write `max(a, b)`",
    "minimum": "write `min(a, b)`",
    "clamp": "write `max(a, min(x, b))`",
    "clip": "write `max(a, min(x, b))`",
    "pow": _POWER,
    "reciprocal": "write `1.0 / x`",
    "where": "`select(c, a, b)` chooses element by element",
    "masked_fill": _CHOSEN,
    "cat": _JOINED,
    "stack": "give each an axis with `reshape`, and join them: `concat(a, b, axis = 0)`",
    "chunk": _PART,
    "split": _PART,
    "slice": _PART,
    "arange": "`iota(N)` counts",
    "zeros": "`fill<f32>([N], 0.0)` makes a tensor",
    "zeros_like": "`fill<f32>([N], 0.0)` makes a tensor",
    "ones": "`fill<f32>([N], 1.0)` makes a tensor",
    "ones_like": "`fill<f32>([N], 1.0)` makes a tensor",
    "full": "`fill<f32>([N], v)` makes a tensor",
    "tensor": "values come from parameters, `iota`, `fill` and index notation",
    "scaled_dot_product_attention": "`use std.nn.attention::{attention}`",
    "multi_head_attention_forward": "`use std.nn.attention::{attention}`",
    "gelu": "`use std.nn.activations::{gelu_erf}`, which PyTorch means unless told `tanh`",
    "dropout": ABSENT["dropout"],
    "rand": _EVEN,
    "randn": _NORMAL,
    "std": _SPREAD,
    "var": _SPREAD,
    "sort": _ORDERED,
    "argsort": _ORDERED,
    "floor": f"{_TRUNCATED}; where that is more than `x`, take one away",
    "ceil": f"{_TRUNCATED}; where that is less than `x`, add one",
    "trunc": _TRUNCATED,
    "interpolate": _RESIZED,
    "logsumexp": "with `let top = max[i] x[i]`, it is `log(sum[i] exp(x[i] - top)) + top`",
    "one_hot": "compare positions: `let y[i, j] = cast<f32>(ids[i] == iota<i64>(N)[j])`",
    "norm": "take the root of a sum of squares: `let y = sqrt(sum[i] x[i] * x[i])`",
    "tril": "compare positions: `if j <= i { x[i, j] } else { 0.0 }`",
    "triu": "compare positions: `if j >= i { x[i, j] } else { 0.0 }`",
    "index_select": "an index may be a value: `let y[i] = x[ids[i]]`",
    "gather": "an index may be a value: `let y[i] = x[ids[i]]`",
}
# What it is as a method or a field of a value: the names alone may be anything's.
OF_VALUE = {
    "ravel": _SHAPED,
    "unflatten": _SHAPED,
    "t": _SWAPPED,
    "T": _SWAPPED,
    "mT": _SWAPPED,
    "expand_as": _REPEATED,
    "shape": _EXTENT,
    "numel": _EXTENT,
    "dim": "the number of axes is part of the type",
    "ndim": "the number of axes is part of the type",
    "square": "write `x * x`",
    "neg": "write `-x`",
    "narrow": _PART,
    "to": "`cast<f32>(x)` converts to a dtype",
    "astype": "`cast<f32>(x)` converts",
    "type_as": "`cast<f32>(x)` converts",
    "item": "index every axis: `x[0]` is a scalar",
    "contiguous": _KEPT,
    "clone": _KEPT,
    "copy": _KEPT,
    "detach": _KEPT,
    "requires_grad_": _KEPT,
    "cpu": _PLACE,
    "cuda": _PLACE,
    "device": _PLACE,
    "dtype": _DTYPE,
}
# What modules of other libraries have, by the name of ours.
OF_MODULE: dict[str, dict[str, str]] = {
    "std.random": dict.fromkeys(("key", "PRNGKey", "seed", "manual_seed"), _KEY),
}
# What the library has under one of these names is something else.
UNLIKE = frozenset({"split"})
# What another name stands for.
INSTEAD = {
    "None": "write `none`",
    "True": "write `true`",
    "False": "write `false`",
    "Some": "write `some(x)`",
    "null": "write `none`",
    "usize": "the dtype is `i64`",
    "str": _TEXT,
    "string": _TEXT,
    "print": "a program prints nothing; return the value",
    "Option": "an optional type is written `T?`",
    "Optional": "an optional type is written `T?`",
    "Tensor": _TENSOR,
    "Vec": _TENSOR,
    "Module": _BLOCK,
    "Parameter": "a parameter is declared in a block: `param weight: Tensor[N; f32]`",
    "ModuleList": "an array of blocks is declared so: `sub layers: [Layer<H>; N]`",
    "Sequential": "each is a `sub`, and `forward` calls one after the other",
    "inf": "write a number that is large enough: `1e30`",
    "pi": "write the number: `3.141592653589793`",
    "device": _PLACE,
}


def said(help: str, value: str) -> str:
    """A way out with `value` in the place of `x`."""
    return re.sub(r"\bx\b(?=[^`]*`)", value, help) if value.isidentifier() else help
