"""Which kernel a call of a library op gets: decided here and nowhere else, each decision with
its reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from linnet.backends.kernels import TIERS, CallSite, Considered, Decision, Kernel, Tier
from linnet.dims.dims import Dim
from linnet.ir.core import Module, Operation


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
    sites: list[CallSite] = []
    for caller, operation, repeats in every:
        callee = module.functions[operation.attrs["callee"]]
        if callee.op is not None:
            operands = tuple(p.type for p in callee.params)
            results = tuple(r.type for r in callee.results)
            count = counts[caller] * repeats
            sites.append(
                CallSite(
                    callee.op,
                    callee.name,
                    caller,
                    operands,
                    results,
                    operation.place,
                    count,
                    device,
                )
            )
    return sites


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


def _literal(dim: Dim) -> int:
    value = dim.as_int()
    return 1 if value is None else max(0, value)
