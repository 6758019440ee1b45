"""What a backend is, how one is found, and how kernels are chosen.

A backend lists its kernels as records; which one a call gets is decided here and
nowhere else, and every decision is kept with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, Protocol

from linnet.dtypes import DType
from linnet.ir.core import Module, Operation
from linnet.ir.places import Place
from linnet.ir.types import Type
from linnet.source.diagnostics import Diagnostic
from linnet.source.errors import LinnetError

Tier = Literal["exact", "equivalent", "fast", "approximate"]
TIERS: tuple[Tier, ...] = ("exact", "equivalent", "fast", "approximate")
"""What a kernel may do to the numbers, and the policies, strictest first."""

GROUP = "linnet.backends"


class RuntimeFault(Exception):  # noqa: N818, a fault is no error of this code
    """A run that the program's meaning forbids: an index out of range, a missing weight.

    `place` is filled in by the interpreter as the fault passes it.
    """

    def __init__(self, message: str, code: str = "E2209") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.place: Place | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """A parameter, buffer or state of a bound model; `path` is dotted."""

    path: str
    shape: tuple[int, ...]
    dtype: DType


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a backend is given to load: entries by name, lowered when asked for, and data.

    `lower` takes an entry and the names of those of its optional parameters that are passed.
    `weights` are NumPy arrays by path, possibly memory-mapped; `states` begin at zero.
    """

    name: str
    entries: tuple[str, ...]
    lower: Callable[[str, tuple[str, ...]], Module]
    weights: Mapping[str, Any]
    states: tuple[Stored, ...]


class Runtime(Protocol):
    """A loaded model as a backend runs it. `call` gets NumPy arrays that fit the entry, and the
    names of the optional parameters that are among them."""

    @property
    def state(self) -> Mapping[str, Any]: ...

    def call(
        self, entry: str, arguments: Sequence[Any], given: tuple[str, ...] = ()
    ) -> tuple[Any, ...]: ...

    def reset_state(self) -> None: ...

    def source(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call of a library op in a lowered entry: its types as far as known, who calls it, and
    how many times one run of the entry does (a `while` counted once)."""

    op: str
    caller: str
    operands: tuple[Type, ...]
    results: tuple[Type, ...]
    place: Place | None
    count: int
    device: str = "cpu"


@dataclass(frozen=True, slots=True)
class Kernel:
    """A way to run an op other than its body. `applies` gives None for yes, else why not."""

    op: str
    name: str
    tier: Tier
    applies: Callable[[CallSite], str | None]
    emit: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Considered:
    """A kernel that was not taken, and why."""

    kernel: Kernel
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What a call site gets: a kernel, or the op's own body where it is None."""

    site: CallSite
    kernel: Kernel | None
    reason: str
    considered: tuple[Considered, ...]

    @property
    def chosen(self) -> str:
        return "body" if self.kernel is None else self.kernel.name


class Backend(Protocol):
    """`kernels` in order of preference. `check` refuses a device or an option that it does not
    have, before any weight is read."""

    @property
    def name(self) -> str: ...

    @property
    def kernels(self) -> Sequence[Kernel]: ...

    def check(self, device: str | None, options: Mapping[str, Any]) -> None: ...

    def load(
        self, compiled: Compiled, *, numerics: Tier, device: str | None, **options: Any
    ) -> Runtime: ...


# --- selection ---------------------------------------------------------------


def select(kernels: Iterable[Kernel], site: CallSite, numerics: Tier) -> Decision:
    """The first kernel for `site` that `numerics` allows and that applies, else the body."""
    considered: list[Considered] = []
    for kernel in (k for k in kernels if k.op == site.op):
        if TIERS.index(kernel.tier) > TIERS.index(numerics):
            reason: str | None = f"its numerics are `{kernel.tier}`, `{numerics}` was asked for"
        else:
            reason = kernel.applies(site)
        if reason is None:
            return Decision(site, kernel, "the first that applies", tuple(considered))
        considered.append(Considered(kernel, reason))
    why = "no kernel applies" if considered else "the backend has no kernel for it"
    return Decision(site, None, why, tuple(considered))


def decide(
    module: Module, kernels: Sequence[Kernel], numerics: Tier, device: str = "cpu"
) -> list[Decision]:
    """The decision for every call of a library op in `module`, in program order."""
    return [select(kernels, site, numerics) for site in call_sites(module, device)]


def call_sites(module: Module, device: str = "cpu") -> list[CallSite]:
    """Every call of a library op that a run of `module` reaches."""
    every = _every_call(module)
    counts = _run_counts(module.entry, every)
    return [
        CallSite(
            op=module.functions[operation.attrs["callee"]].op or "",
            caller=caller,
            operands=tuple(v.type for v in operation.operands),
            results=tuple(v.type for v in operation.results),
            place=operation.place,
            count=counts[caller] * repeats,
            device=device,
        )
        for caller, operation, repeats in every
        if module.functions[operation.attrs["callee"]].op is not None
    ]


_Call = tuple[str, Operation, int]
"""The caller, the call, and how many times one run of the caller makes it."""


def _every_call(module: Module) -> list[_Call]:
    """Each call that a run may reach, once, in the order in which it first would."""
    found: list[_Call] = []
    seen = {module.entry}
    open_ = [(module.entry, iter(_calls(module.functions[module.entry].body, 1)))]
    while open_:
        caller, calls = open_[-1]
        call = next(calls, None)
        if call is None:
            open_.pop()
            continue
        found.append((caller, *call))
        callee: str = call[0].attrs["callee"]
        if callee not in seen:
            seen.add(callee)
            open_.append((callee, iter(_calls(module.functions[callee].body, 1))))
    return found


def _run_counts(entry: str, every: Iterable[_Call]) -> dict[str, int]:
    """How many times one run calls each function, each counted when all its callers are."""
    calls: dict[str, list[tuple[str, int]]] = {}
    left: dict[str, int] = {}
    for caller, operation, repeats in every:
        callee: str = operation.attrs["callee"]
        calls.setdefault(caller, []).append((callee, repeats))
        left[callee] = left.get(callee, 0) + 1
    counts = dict.fromkeys(left, 0) | {entry: 1}
    ready = [entry]
    while ready:
        caller = ready.pop()
        for callee, repeats in calls.get(caller, ()):
            counts[callee] += counts[caller] * repeats
            left[callee] -= 1
            if not left[callee]:
                ready.append(callee)
    return counts


def _calls(body: Iterable[Operation], times: int) -> Iterable[tuple[Operation, int]]:
    for operation in body:
        if operation.name == "call":
            yield operation, times
        inner = times * _repeats(operation)
        for region in operation.regions:
            yield from _calls(region.body, inner)


def _repeats(operation: Operation) -> int:
    """How often the regions run; 1 where that is not known."""
    match operation.name:
        case "each":
            return _literal(operation.attrs["count"])
        case "loop":
            return _literal(operation.attrs["stop"] - operation.attrs["start"])
        case _:
            return 1


def _literal(dim: Any) -> int:
    value = dim if isinstance(dim, int) else dim.as_int()
    return 1 if value is None else max(0, value)


# --- registry ----------------------------------------------------------------

# name -> (module that offers it, what that needs, the extra that installs it)
_SHIPPED = {
    "numpy": ("linnet.backends.numpy.runtime", "numpy", None),
    "torch": ("linnet.backends.torch", "torch", "torch"),
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
    if not _is_there(needs):
        raise _refused(
            "E2190",
            f"the backend `{name}` needs `{needs}`, which is not installed",
            f'install it with: pip install "linnet[{extra}]"',
        )
    if not _is_there(where):
        raise _refused(
            "E2190",
            f"the backend `{name}` is not implemented in this version",
            'use backend="numpy"',
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
