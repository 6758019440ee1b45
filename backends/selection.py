"""Which kernel a call of a library op gets: decided here and nowhere else, each decision with
its reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from linnet.backends.kernels import TIERS, CallSite, Considered, Decision, Kernel, Tier
from linnet.dims.dims import Dim
from linnet.ir.core import Module, Operation


def select(kernels: Iterable[Kernel], site: CallSite, numerics: Tier) -> Decision:
    """The first kernel for `site` that `numerics` allows and that applies, else the body."""
    refused: list[Considered] = []
    fit: list[Kernel] = []
    for kernel in (k for k in kernels if k.op == site.op):
        reason = _refusal(kernel, site, numerics)
        if reason is None:
            fit.append(kernel)
        else:
            refused.append(Considered(kernel, reason))
    if fit:
        why = fit[0].why or "the first that applies"
        return Decision(site, fit[0], why, tuple(refused), tuple(fit[1:]))
    if not refused:
        return Decision(site, None, "the backend has no kernel for it", ())
    allowed = any(_allows(numerics, c.kernel) for c in refused)
    why = "no kernel applies" if allowed else f"`{numerics}` allows none of its kernels"
    return Decision(site, None, why, tuple(refused))


def _allows(numerics: Tier, kernel: Kernel) -> bool:
    return TIERS.index(kernel.tier) <= TIERS.index(numerics)


def _refusal(kernel: Kernel, site: CallSite, numerics: Tier) -> str | None:
    if not _allows(numerics, kernel):
        return f"its numerics are `{kernel.tier}`, `{numerics}` was asked for"
    return kernel.applies(site)


def decide(
    module: Module, kernels: Sequence[Kernel], numerics: Tier, device: str = "cpu"
) -> list[Decision]:
    """The decision for every call of a library op that a run of `module` makes, in program order.
    The calls in the body of an op that a kernel runs are not made."""
    found: dict[str, Decision] = {}
    for site in call_sites(module, device):
        if site.callee not in found:
            found[site.callee] = select(kernels, site, numerics)
    closed = frozenset(callee for callee, d in found.items() if d.kernel is not None)
    sites = call_sites(module, device, closed)
    return [replace(found[site.callee], site=site) for site in sites]


def call_sites(module: Module, device: str = "cpu", closed: Collection[str] = ()) -> list[CallSite]:
    """Every call of a library op that a run of `module` reaches, which calls functions that are
    `closed` and does not run their bodies."""
    every = _every_call(module, closed)
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


def _every_call(module: Module, closed: Collection[str]) -> list[_Call]:
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
        if callee not in seen and callee not in closed:
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
