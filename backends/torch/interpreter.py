"""The tensor IR in PyTorch, operation by operation: each expression of the vocabulary compiled
once and evaluated with the operands and the extents that it names.

Every value is a tensor, constants and dimensions too. Positions are checked before they are
used, on CUDA by waiting for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch
from torch import Tensor

from linnet.backends.code import Code, name
from linnet.backends.interpret.frame import Frame, Framework, Run, bind_symbols, concrete
from linnet.backends.interpret.liveness import Deaths, deaths
from linnet.backends.interpret.walk import HELD, walk
from linnet.backends.kernels import Decision, Kernel, Tier
from linnet.backends.selection import decide
from linnet.backends.torch.dtypes import TORCH
from linnet.backends.torch.faults import no_memory, out_of_range
from linnet.backends.torch.positions import CHECKS
from linnet.backends.torch.vocabulary import VOCABULARY, as_tensor, code
from linnet.dims.dims import Dim, Symbol
from linnet.ir.core import Module, Operation
from linnet.ir.passes.vectorize import vectorize


@dataclass(frozen=True, slots=True)
class _Expression:
    """`dims` are the extents that it names, `names` all else but its operands `x0`, `x1`, ..."""

    compiled: CodeType
    dims: tuple[Dim, ...]
    names: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A module made ready to run any number of times on a device."""

    module: Module
    deaths: Deaths
    device: torch.device
    framework: Framework
    kernels: Mapping[str, Callable[[list[Tensor]], list[Tensor]]]

    @staticmethod
    def of(
        module: Module,
        device: torch.device | str = "cpu",
        kernels: Sequence[Kernel] = (),
        numerics: Tier = "exact",
    ) -> Interpreter:
        """`module` without `indexed` operations, its calls of library ops given the kernels that
        `numerics` allows."""
        plain = vectorize(module)
        place = torch.device(device)
        evaluator = _Evaluator(place)
        framework = Framework(
            {**dict.fromkeys(VOCABULARY, evaluator.run), **HELD},
            TORCH,
            lambda number: torch.tensor(number, device=place),
            lambda shape, dtype: torch.zeros(shape, dtype=TORCH[dtype], device=place),
        )
        chosen = {
            d.site.callee: evaluator.kernel(d, d.kernel)
            for d in decide(plain, kernels, numerics, place.type)
            if d.kernel is not None
        }
        return Interpreter(plain, deaths(plain), place, framework, chosen)

    def run(
        self,
        args: Sequence[Tensor],
        *,
        weights: Mapping[str, Tensor] | None = None,
        state: MutableMapping[str, Tensor] | None = None,
        symbols: Mapping[Symbol, int] | None = None,
    ) -> list[Tensor]:
        """The results of the entry. The extents of `args` bind the module's symbols, beside
        those in `symbols`; `state` is read and replaced. Paths are dotted."""
        entry = self.module.functions[self.module.entry]
        bound = bind_symbols([p.type for p in entry.params], args, symbols or {}, TORCH)
        held: MutableMapping[str, Tensor] = {} if state is None else state
        shared = Run(
            self.framework, self.module, self.deaths, bound, weights or {}, held, self.kernels
        )
        return walk(shared, list(args))


@dataclass(slots=True)
class _Evaluator:
    """Evaluates operations by the expressions of the vocabulary."""

    device: torch.device
    _known: dict[int, tuple[Operation, _Expression]] = field(
        default_factory=dict[int, tuple[Operation, _Expression]]
    )

    def run(self, frame: Frame, op: Operation, args: list[Tensor]) -> list[Tensor]:
        found = self._known.get(id(op))
        if found is None:
            # The operation is kept, so that no other is ever known by its identity.
            found = self._known[id(op)] = op, self._expression(op)
        expression = found[1]
        check = CHECKS.get(op.name)
        if check is not None:
            check(frame, op, args)
        scope: dict[str, Any] = {f"x{k}": x for k, x in enumerate(args)}
        for k, dim in enumerate(expression.dims):
            scope[f"n{k}"] = frame.extent(dim)
        args.clear()
        return [_evaluate(expression, scope)]

    def _expression(self, op: Operation) -> _Expression:
        dims: dict[Dim, Code] = {}

        def write(dim: Dim) -> Code:
            number = dim.as_int()
            if number is not None:
                return name(str(number), "literal")
            return dims.setdefault(dim, name(f"n{len(dims)}", "number"))

        operands = [name(f"x{k}") for k in range(len(op.operands))]
        written = as_tensor(code(op, operands, write), concrete(op.results[0].type.dtype))
        return self._compiled(written, tuple(dims))

    def kernel(self, decision: Decision, kernel: Kernel) -> Callable[[list[Tensor]], list[Tensor]]:
        """What runs in place of the body of a library op."""
        site = decision.site
        operands = [name(f"x{k}") for k in range(len(site.operands))]
        expressions = [self._compiled(c, ()) for c in kernel.emit(site, operands)]
        several = len(expressions) != len(site.results)

        def run(args: list[Tensor]) -> list[Tensor]:
            scope: dict[str, Any] = {f"x{k}": x for k, x in enumerate(args)}
            args.clear()
            found = [_evaluate(e, scope) for e in expressions]
            return list(found[0]) if several else found

        return run

    def _compiled(self, written: Code, dims: tuple[Dim, ...]) -> _Expression:
        functions = {f.__name__: f for f in written.functions}
        names = {"torch": torch, "F": torch.nn.functional, "device": self.device, **functions}
        return _Expression(compile(written.text, "<operation>", "eval"), dims, names)


def _evaluate(expression: _Expression, scope: dict[str, Any]) -> Any:
    """The value; what PyTorch finds out of range is a fault, and no memory is what it is in
    Python."""
    try:
        with no_memory():
            return eval(expression.compiled, expression.names, scope)
    except IndexError as error:
        raise out_of_range(error) from None


def run(module: Module, args: Sequence[Any], **named: Any) -> list[Tensor]:
    """`module` run once; see `Interpreter.run`."""
    return Interpreter.of(module).run(args, **named)
