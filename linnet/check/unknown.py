"""Names that mean nothing here, and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

from linnet.check.intrinsics import PRELUDE
from linnet.check.names import Missing
from linnet.check.scope import Scope
from linnet.source.files import Span
from linnet.source.suggest import did_you_mean

# What other languages call the dtypes.
_DTYPES = {
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
_SUGGESTED = 100
_REDUCTIONS = frozenset({"sum", "prod", "any", "all"})
_EXTENT = "extents are part of the type: use the generics that name them"
_REPEAT = "`static for i in 0..n { ... }` repeats"
_INSTEAD = {
    "None": "write `none`",
    "True": "write `true`",
    "False": "write `false`",
    "Some": "write `some(x)`",
    "null": "write `none`",
    "usize": "the dtype is `i64`",
    "str": "there are no strings among the values",
    "string": "there are no strings among the values",
    "Option": "an optional type is written `T?`",
    "Optional": "an optional type is written `T?`",
    "Tensor": "a tensor type names dimensions and dtype: `Tensor[N; f32]`",
    "Vec": "a tensor type names dimensions and dtype: `Tensor[N; f32]`",
    "len": _EXTENT,
    "size": _EXTENT,
    "range": _REPEAT,
    "enumerate": _REPEAT,
    "bmm": "write it in index notation: `sum[k] a[i, k] * b[k, j]`",
    "dot": "write it in index notation: `sum[k] a[k] * b[k]`",
    "mean": "divide a sum: `(sum[i] x[i]) / N`",
    "pow": "multiply, or use `exp` and `log`",
    "where": "`select(c, a, b)` chooses element by element",
    "matmul": "write it in index notation: `sum[k] a[i, k] * b[k, j]`",
    "einsum": "write it in index notation: `sum[k] a[i, k] * b[k, j]`",
    "transpose": "`permute(x, [1, 0])` reorders the axes",
    "cat": "`concat(a, b, axis = 0)` joins tensors",
    "arange": "`iota(N)` counts",
    "zeros": "`fill<f32>([N], 0.0)` makes a tensor",
    "ones": "`fill<f32>([N], 1.0)` makes a tensor",
    "full": "`fill<f32>([N], v)` makes a tensor",
    "view": "`reshape(x, [A, B])` changes the shape",
    "expand": "`broadcast_to(x, [A, B])` repeats along axes of extent 1",
    "slice": "write it as an index: `x[a:b]`",
}


def unknown_name(scope: Scope, name: str, span: Span) -> None:
    """E1201, unless what the name was to mean was reported already. What is missing
    once in a function is one mistake there, however often it is named."""
    if _reported(scope, name):
        return
    scope.error(
        "E1201",
        f"nothing named `{name}` is declared here",
        span,
        help=_meant(name) or near(scope, name, [*scope.visible(), *sorted(PRELUDE)]),
        folds=[("name", scope.function, name)],
    )


def unknown_dimension(scope: Scope, name: str, span: Span) -> None:
    """E1201 where a dimension is asked for: most likely a generic that is not declared."""
    if _reported(scope, name):
        return
    close = near(scope, name, scope.visible())
    scope.error(
        "E1201",
        f"nothing named `{name}` is declared here",
        span,
        help=close or f"a dimension is a generic: declare it, `<{name}: Dim>`",
        folds=[("dimension", name)],
    )


def _reported(scope: Scope, name: str) -> bool:
    found = scope.lookup(name)
    return isinstance(found, Missing) and found.reported


def near(scope: Scope, name: str, among: Iterable[str]) -> str | None:
    """`did_you_mean` for the first findings of a run. It compares a name with every other, which
    would take the square of the time in a file where each is unknown."""
    return did_you_mean(name, among) if len(scope.world.sink.found) < _SUGGESTED else None


def _meant(name: str) -> str | None:
    if name in _DTYPES:
        return f"the dtype is `{_DTYPES[name]}`"
    if name in _REDUCTIONS:
        return f"reduce in index notation: `{name}[i] x[b, i]`"
    return _INSTEAD.get(name)
