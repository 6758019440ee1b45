"""The backends that there are, and what is asked of them by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from linnet.backends.contract import Backend
from linnet.backends.kernels import TIERS, Tier
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError
from linnet.source.shown import shown
from linnet.source.suggest import did_you_mean

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


def default_backend() -> str:
    """The one that is explained where none is named: PyTorch's where that is installed."""
    return "torch" if _is_there("torch") else "numpy"


def get_backend(name: str) -> Backend:
    """The backend called `name`; a `LinnetError` that says what to do where there is none."""
    if name in _SHIPPED:
        return _shipped(name)
    for found in _offered():
        if found.name == name:
            return found.load()()
    raise _unknown("backend", "backends", name, backend_names())


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
    raise _unknown("numerics policy", "policies", numerics, TIERS)


def _unknown(kind: str, kinds: str, name: str, known: Sequence[str]) -> LinnetError:
    listed = f"the {kinds} are {', '.join(f'`{n}`' for n in known)}"
    near = did_you_mean(name, known)
    message = f"there is no {kind} {shown(name)}"
    notes = (listed,) if near else ()
    return LinnetError([Diagnostic("E2102", message, None, notes=notes, help=near or listed)])


def _refused(code: str, message: str, way_out: str) -> LinnetError:
    return LinnetError([Diagnostic(code, message, None, help=way_out)])
