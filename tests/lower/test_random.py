"""Random programs: they check, their IR is sound, and it computes what NumPy does."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linnet.dims.prover import Facts
from linnet.ir.batch_rules import NotBatchedError
from linnet.ir.parse import parse
from linnet.ir.passes.dce import dce
from linnet.ir.passes.inline import inline
from linnet.ir.passes.vectorize import vectorize
from linnet.ir.text import same, show
from linnet.ir.verify import verify
from linnet.lower import points
from tests.backends.each import HERE, run
from tests.lower.elements import Notation, notations
from tests.lower.lowering import everywhere, source
from tests.lower.programs import Program, programs


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(program=programs())
def test_a_random_program_means_what_numpy_says(
    program: Program, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = source(tmp_path_factory.mktemp("random"), program.text)
    args = [*(t.value for t in program.args), np.int64(1)]
    for generics in (None, program.sizes, {"A": program.sizes["A"]}):
        module = made.function("f", generics)
        assert same(parse(show(module), module.symbols), module)
        whole = dce(inline(vectorize(module), lambda _: True))
        verify(whole, Facts(made.program.functions["m::f"].facts))
        symbols = {s: program.sizes[s.name] for s in module.symbols}
        for version, backend in product((module, whole), HERE):
            results = run(backend, version, args, symbols=symbols)
            for tensor, result in zip(program.values, results, strict=True):
                assert result.dtype == np.int64 and result.shape == tensor.value.shape, tensor
                np.testing.assert_array_equal(result, tensor.value, err_msg=tensor.name)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(notation=notations(), one_by_one=st.booleans())
def test_random_index_notation_means_what_its_points_do(
    notation: Notation, one_by_one: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def refuse(*_: object) -> None:
        raise NotBatchedError

    made = source(tmp_path_factory.mktemp("points"), notation.text)
    with pytest.MonkeyPatch.context() as patch:
        if one_by_one:
            patch.setattr(points, "batched", refuse)
        modules = [made.function("f", generics) for generics in ({}, {"N": 3})]
    for module in modules:
        (result,) = everywhere(module, notation.args, Facts(made.program.functions["m::f"].facts))
        np.testing.assert_array_equal(result, notation.value)
