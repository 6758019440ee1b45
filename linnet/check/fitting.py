"""Whether the arguments of a call fit its parameters, and what may be to blame if not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from linnet.check.convert import bad, conform
from linnet.check.equal import same_type
from linnet.check.inference import Inference
from linnet.check.keys import Everywhere
from linnet.check.scope import Scope, is_error
from linnet.check.substitute import Bindings, binders, in_type
from linnet.check.target import Target, defaulted
from linnet.check.typed import TExpr, TFunction, TParam
from linnet.check.types import (
    GenericArg,
    LiteralType,
    ScalarType,
    TensorType,
    Type,
    element_dtype,
    present,
)
from linnet.dims.dims import Dim, Symbol
from linnet.dtypes import DTypeVar

# The ops whose weight has one filter for each channel, by those that mix all channels.
_DEPTHWISE = {
    "std.nn.conv::conv1d": "depthwise_conv1d",
    "std.nn.conv::conv2d": "depthwise_conv2d",
    "std.nn.conv::conv2d_rect": "depthwise_conv2d",
}


@dataclass(frozen=True, slots=True)
class Fitting:
    """A call whose arguments are held against the parameters; None for those not given."""

    scope: Scope
    target: Target
    values: list[TExpr | None]
    solver: Inference

    def conforming(self) -> list[TExpr | None] | None:
        """The arguments as the parameters want them; None if one does not fit. A dimension that
        did not fit one parameter is in doubt: where it stands again only the dtype is looked at."""
        final: list[TExpr | None] = []
        doubtful: set[Symbol | DTypeVar] = set()
        wrong: list[TParam] = []
        crossed: tuple[TParam, TParam] | None = None
        for value, param in zip(self.values, self.target.function.params, strict=True):
            if value is None or self._exact(value, param):
                final.append(value)
                continue
            if not wrong and self._outlier(value):
                return None
            crossed = crossed if wrong else self._crossed()
            if crossed is not None and param is crossed[1]:
                continue  # reported for the other of the two
            dims = {b for b in binders(param.local.type) if isinstance(b, Symbol)}
            way_out = _way_out(crossed) or self._depthwise(value, param)
            fitted = self.conform(param, value, bool(dims & doubtful), way_out)
            final.append(fitted)
            if is_error(fitted.type):
                wrong.append(param)
                doubtful |= dims
        return None if wrong else final

    def _depthwise(self, value: TExpr, param: TParam) -> str | None:
        """What takes the weights `[C, 1, K, K]` that a convolution of C channels is given."""
        other = _DEPTHWISE.get(self.target.function.key)
        wanted = self.solver.wanted(param.local.type)
        if other is None or not isinstance(value.type, TensorType):
            return None
        if param.local.name != "weight" or not isinstance(wanted, TensorType):
            return None
        if value.type.dims[:2] != (*wanted.dims[1:2], Dim.of(1)):
            return None
        return f"one filter a channel: `use std.nn.depthwise::{{{other}}}`"

    def _exact(self, value: TExpr, param: TParam) -> bool:
        """Whether the type of an argument is the parameter's, without any adaption."""
        wanted = self.solver.wanted(param.local.type)
        if wanted is None or not same_type(self.scope.facts, value.type, wanted):
            return False
        self.scope.world.accepted[param.local] += 1
        return True

    def _outlier(self, blamed: TExpr) -> bool:
        """Whether another argument than `blamed` is reported: the only one without which all the
        others agree. It has told generics before they could."""
        given = [(v, p) for v, p in zip(self.values, self.target.function.params, strict=True) if v]
        told = [v for _, v, _ in self.solver.values]
        if len(told) < 3 or all(v is not blamed for v in told):
            return False
        agreeing: list[tuple[TExpr, TParam, Fitting]] = []
        for value, param in given:
            other = Fitting(self.scope, self.target, self.values, self.solver.without(value))
            if all(other._fits(v, p) for v, p in given if v is not value):
                agreeing.append((value, param, other))
        if len(agreeing) != 1 or agreeing[0][0] is blamed:
            return False
        value, param, other = agreeing[0]
        other.solver.unify(param.local.type, value.type)  # what the others say nothing of
        return is_error(other.conform(param, value).type)

    def _crossed(self) -> tuple[TParam, TParam] | None:
        """The only two parameters whose arguments do not fit, if those of each other do."""
        pairs = zip(self.values, self.target.function.params, strict=True)
        given = [(v, p) for v, p in pairs if v is not None]
        wrong = [(v, p) for v, p in given if not self._fits(v, p)]
        if len(wrong) != 2:
            return None
        (a, first), (b, second) = wrong
        return (first, second) if self._fits(a, second) and self._fits(b, first) else None

    def _fits(self, value: TExpr, param: TParam) -> bool:
        wanted = self.solver.wanted(param.local.type)
        if wanted is None or is_error(value.type):
            return True
        number = isinstance(value.type, LiteralType) and isinstance(wanted, ScalarType)
        return number or same_type(self.scope.facts, value.type, wanted)

    def conform(
        self, param: TParam, value: TExpr, loosely: bool = False, known: str | None = None
    ) -> TExpr:
        """The value as `param` wants it, `loosely` of any shape; an error value after a report, in
        which the way out is `known`."""
        wanted = self.solver.wanted(param.local.type)
        if wanted is None or self._exact(value, param):
            return value
        if loosely and isinstance(wanted, TensorType) and isinstance(value.type, TensorType):
            wanted = replace(wanted, dims=value.type.dims)
            if value.type == wanted:
                return value
        if self._exchanged(param.local.type, value.type):
            return bad(value.span)
        what = f"the argument `{param.local.name}`"
        origin = ((param.local.span, "the parameter"),)
        suspects: list[object] = [Everywhere(param.local), *self._of_its_dtype(param)]
        if self.target.sub is not None:
            suspects.append(self.target.sub.name)
        with self.scope.mute(self.scope.world.doubts.about(param.local)):
            if element_dtype(value.type) != element_dtype(wanted):
                known = known or defaulted(self.scope, self.target, param, value.type)
            final = conform(self.scope, value, wanted, what, origin, tuple(suspects), known)
        if not is_error(final.type):
            self.scope.world.accepted[param.local] += 1
        return final

    def _of_its_dtype(self, param: TParam) -> frozenset[object]:
        """What the arguments name that tell with which dtype a generic stands in the type of
        `param`: if another is found there, one of them may be wrong."""
        function = self.target.function
        dtype = element_dtype(present(param.local.type))
        if not isinstance(dtype, DTypeVar) or all(g.binder != dtype for g in function.generics):
            return frozenset()
        return frozenset[object]().union(
            *(
                self.scope.named_in(value.span)
                for value, other in zip(self.values, function.params, strict=True)
                if value is not None and element_dtype(present(other.local.type)) == dtype
            )
        )

    def _exchanged(self, pattern: Type, found: Type) -> bool:
        """Whether a value would fit if a parameter had not told one generic for another."""
        wanted = (
            in_type(pattern, {**self.solver.bound, **_swapped(self.solver.bound, order)})
            for order in exchanges(self.scope, self.target.function)
        )
        return any(same_type(self.scope.facts, found, type_) for type_ in wanted)


def _way_out(crossed: tuple[TParam, TParam] | None) -> str | None:
    if crossed is None:
        return None
    names = " and ".join(f"`{p.local.name}`" for p in crossed)
    return f"the arguments for {names} stand in each other's places"


def exchanges(scope: Scope, function: TFunction) -> list[Mapping[Symbol, Symbol]]:
    """Of the parameters whose axes are in another order than the body asks for, the generics that
    they tell and which each should be."""
    known = scope.world.doubts.exchanged
    return [known[p.local] for p in function.params if p.local in known]


def _swapped(bound: Bindings, order: Mapping[Symbol, Symbol]) -> dict[Symbol, GenericArg]:
    return {meant: bound[told] for told, meant in order.items() if told in bound}
