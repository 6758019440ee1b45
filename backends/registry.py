"""The backends that there are, and what is asked of them by name."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from linnet.backends.contract import Backend
from linnet.backends.kernels import TIERS, Tier
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError

GROUP = "linnet.backends"

# name -> (module that offers it, what that needs, the extra that installs it)
_SHIPPED = {
    "numpy": ("linnet.backends.numpy.runtime", "numpy", None),
    "torch": ("linnet.backends.torch.backend", "torch", "torch"),
    "jax": ("linnet.backends.jax", "jax", "jax"),
}


def backend_names() -> tuple[str, ...]:
    """Every backend that may be asked for, the shipped ones first."""
    return tuple(dict.fromkeys([*_SHIPPED, *(e.name for e in _offered())]))


def get_backend(name: str) -> Backend:
    """The backend called `name`; a `LinnetError` that says what to do where there is none."""
    if name in _SHIPPED:
        return _shipped(name)
    for found in _offered():
        if found.name == name:
            return found.load()()
    known = ", ".join(f"`{n}`" for n in backend_names())
    raise _refused("E2102", f"there is no backend `{name}`", f"the backends are {known}")


def _offered() -> Iterable[Any]:
    """The entry points by which other packages offer backends."""
    # Slow to import, and seldom asked for.
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


def _shipped(name: str) -> Backend:
    where, needs, extra = _SHIPPED[name]
    if not _is_there(where):
        raise _refused(
            "E2190",
            f"the backend `{name}` is not implemented in this version",
            'use backend="numpy"',
        )
    if not _is_there(needs):
        raise _refused(
            "E2190",
            f"the backend `{name}` needs `{needs}`, which is not installed",
            f'install it with: pip install "linnet[{extra}]"',
        )
    backend: Backend = import_module(where).backend()
    return backend


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:
        return False


def check_numerics(numerics: str) -> Tier:
    """`numerics` if it is a policy."""
    for tier in TIERS:
        if tier == numerics:
            return tier
    known = ", ".join(f"`{t}`" for t in TIERS)
    raise _refused(
        "E2102", f"there is no numerics policy `{numerics}`", f"the policies are {known}"
    )


def _refused(code: str, message: str, way_out: str) -> LinnetError:
    return LinnetError([Diagnostic(code, message, None, help=way_out)])
