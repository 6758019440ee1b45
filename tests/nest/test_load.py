"""A small card from its folder to results, and everything that may be wrong on the way."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from linnet import nest
from linnet.source.errors import LinnetError
from tests.nest.small import (
    BINDINGS,
    ONE,
    TWO,
    line_of,
    load,
    refused,
    write_card,
    write_weights,
)


@pytest.fixture
def card(tmp_path: Path) -> Callable[..., Path]:
    return partial(write_card, tmp_path)


@pytest.fixture
def weights(tmp_path: Path) -> Callable[..., Path]:
    return partial(write_weights, tmp_path)


def test_a_checkpoint_runs(card: Any, weights: Any) -> None:
    model = load(card(), weights=weights())
    found = model([3, 0])
    assert found.dtype == np.float32
    assert found.tolist() == [[13.0, 225.0], [1.0, 45.0]]
    assert model.forward(tokens=np.asarray([3], np.uint8)).tolist() == [[13.0, 225.0]]
    assert model([]).shape == (0, 2)
    assert model.unbound == ()
    assert model.source() is None


def test_entries_are_methods(card: Any) -> None:
    model = load(card())
    assert model.entries == ("forward", "remember", "keep", "put", "grid", "tail", "shifted")
    assert set(model.entries) <= set(dir(model))
    assert model.forward.signature == "forward<S>(tokens: Tensor[S; i32]) -> Tensor[S, 2; f32]"
    assert model.entry("forward").doc.strip() == "Rows of the table through the layers."
    with pytest.raises(AttributeError, match="its entries are forward, remember"):
        _ = model.translate
    assert "no entry `translate`" in refused("E2107", model.entry, "translate")


def test_random_weights_are_the_same_each_time(card: Any) -> None:
    folder = card()
    first, second = load(folder)([1, 2]), load(folder)([1, 2])
    assert first.tobytes() == second.tobytes()
    assert first.any()


def test_state_lasts_between_calls_and_begins_at_zero(card: Any) -> None:
    model = load(card())
    assert {k: v.tolist() for k, v in model.state.items()} == {"seen": [0.0, 0.0]}
    assert model.remember([1, 2]).tolist() == [1, 2]
    assert model.remember([1.0, 0.5]).tolist() == [2, 2.5]
    assert model.state["seen"].tolist() == [2, 2.5]
    model.reset_state()
    assert model.state["seen"].tolist() == [0, 0]


def test_arrays_are_not_shared_with_the_caller(card: Any) -> None:
    model = load(card())
    x = np.ones(2, np.float32)
    found = model.keep(x)
    x[:] = 7
    found[:] = 9
    assert model.state["seen"].tolist() == [1, 1]


def test_several_results_and_a_dimension_that_is_a_sum(card: Any) -> None:
    head, first = load(card()).tail([1.0, 2.0, 3.0, 4.0, 5.0])
    assert head.tolist() == [1, 2, 3]
    assert first.tolist() == 4


def test_optional_inputs_and_defaults(card: Any) -> None:
    model = load(card())
    assert model.shifted([1, 2]).tolist() == [1, 2]
    assert model.shifted([1, 2], [10, 10]).tolist() == [11, 12]
    assert model.shifted([1, 2], by=[10, 10], flags=[True, False]).tolist() == [11, 2]
    assert model.shifted([1, 2], None, [True, True]).tolist() == [1, 2]
    assert model.grid([[1, 2]], [5]).tolist() == [[7, 9]]
    assert model.grid([[1, 2]], [5], factor=-1).tolist() == [[4, 3]]


# --- inputs ------------------------------------------------------------------


def test_shapes_of_inputs(card: Any) -> None:
    model = load(card())
    text = refused("E2202", model.grid, np.ones((2, 3), np.int32), np.ones(3, np.int32))
    assert "`lengths`: B is 3 here and 2 in `tokens`" in text
    assert f"{line_of('lengths: Tensor')}:9" in text
    text = refused("E2202", model.grid, [1, 2], [3])
    assert "`tokens` has 1 dimension [2], it is Tensor[B, S; i32]" in text
    text = refused("E2202", model.remember, [1, 2, 3])
    assert "`x`: axis 0 is 3, it must be 2" in text
    text = refused("E2202", model.tail, [1.0])
    assert "axis 0 is 1, and no P makes `P + 2` that" in text
    text = refused("E2206", model.grid, [[1]], [1])
    assert "`where S > 1` of `grid` does not hold: S is 1" in text
    text = refused("E2206", model.grid, np.ones((3, 2), np.int32), [1, 1, 1])
    assert "`where B <= S` of `grid` does not hold: B is 3, S is 2" in text
    assert "with rows of one length" in refused("E2101", model.grid, [[1, 2], [1]], [1, 1])


def test_dtypes_of_inputs(card: Any) -> None:
    model = load(card())
    big = 2**31
    assert f"holds {big}, which no i32 is" in refused("E2105", model.forward, [0, big])
    assert f"holds {-big - 1}" in refused("E2105", model, np.asarray([-big - 1]))
    text = refused("E2103", model, np.asarray([1.0]))
    assert "`tokens` is float64, int32 is asked for" in text
    refused("E2103", model, [1.5])
    refused("E2103", model, [True])
    refused("E2103", model.remember, np.ones(2, np.float64))
    refused("E2103", model.shifted, [1.0], None, [1])
    refused("E2101", model, "abc")
    refused("E2101", model, object())
    bf16 = load(model.card.directory, generics={"T": "bf16"})
    assert bf16.remember([1.00390625, 2]).tolist() == [1.0, 2.0]
    assert bf16.keep([1 + 2**-8 + 2**-40, 1e39]).tolist() == [1.0078125, float("inf")]
    assert bf16.remember(np.ones(2, ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16


def test_arrays_of_any_layout(card: Any) -> None:
    model = load(card())
    tokens = np.asarray([[1, 2], [3, 4], [5, 6]], ">i8").T
    assert model.grid(tokens, [0, 1], 1).tolist() == [[1, 3, 5], [3, 5, 7]]
    assert model.remember(np.asarray([1, 9, 2, 9], np.float32)[::2]).tolist() == [1, 2]


def test_nothing_global_changes_and_nothing_warns(card: Any) -> None:
    before = np.geterr()
    filters = list(warnings.filters)
    model = load(card())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.grid([[2**31 - 1, 1]], [5], 2).tolist() == [[3, 7]]
        found = model.shifted([3e38, float("inf")], [3e38, float("-inf")])
    assert found[0] == np.inf and np.isnan(found[1])
    assert np.geterr() == before
    assert warnings.filters == filters


def test_names_of_inputs(card: Any) -> None:
    model = load(card())
    assert "no value for the input `lengths`" in refused("E2102", model.grid, [[1, 2]])
    text = refused("E2102", model.grid, [[1, 2]], lenghts=[1])
    assert "has no input `lenghts`" in text and "`lengths`?" in text
    assert "3 inputs for 1" in refused("E2102", model, [1], [2], [3])
    assert "given twice" in refused("E2102", model, [1], tokens=[1])


@pytest.mark.parametrize("bad", [-1, 4])
def test_an_index_out_of_range_is_an_error_with_a_place(card: Any, bad: int) -> None:
    with pytest.raises(LinnetError) as caught:
        load(card())([0, bad])
    (found,) = caught.value.diagnostics
    assert found.code == "E2209"
    assert found.message == f"index {bad} is out of range for axis 0 of 4 elements"
    assert found.span is not None and found.span.text == "table[cast<i64>(tokens[s]), h]"
    assert found.notes == ("in a run of `forward`",)


def test_a_run_that_fails_leaves_the_state_as_it_was(card: Any) -> None:
    model = load(card())
    assert model.put([3, 4], 1) == 4
    refused("E2209", model.put, [5, 6], 2)
    assert model.state["seen"].tolist() == [3, 4]


# --- generics ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (("H = 2\n", ""), "the generic `H` of `Model` has no value"),
        (("H = 2\n", "H = 2\nHeds = 3\n"), "`Model` has no generic `Heds`"),
        (
            ("H = 2\n", 'H = "f32"\n'),
            "`H` is a dimension, an integer from 0 to 2^63 - 1, not `f32`",
        ),
        (("H = 2\n", "H = -2\n"), "from 0 to 2^63 - 1, not the number -2"),
        (("H = 2\n", "H = true\n"), "must be an integer or a dtype"),
        (("H = 2\n", f"H = {2**63}\n"), "from 0 to 2^63 - 1, not a large number"),
        (('T = "f32"', 'T = "i32"'), "`T` is Float, one of f16, bf16, f32, f64, not `i32`"),
        (('T = "f32"', "T = 3"), "`T` is Float"),
        (("H = 2\n", "H = 3\n"), "`where H % 2 == 0` of `Model` does not hold: H = 3"),
        (("H = 2\n", "H = 0\n"), "`where H > 0` of `Model` does not hold: H = 0"),
        (('root = "Model"', 'root = "Modle"'), "`Modle` is no block of `small`"),
        (('entry = "forward"', 'entry = "forwad"'), "`Model` has no entry `forwad`"),
    ],
)
def test_a_card_that_does_not_fit_its_source(card: Any, edit: Any, expected: str) -> None:
    folder = card(edit)
    text = refused("E5001", load, folder)
    assert expected in text
    assert f"{folder}/nest.toml:" in text


def test_overrides_win_and_are_checked(card: Any) -> None:
    folder = card()
    assert load(folder, generics={"H": 4})([1]).shape == (1, 4)
    assert load(folder, generics={"T": "f64"})([1]).dtype == np.float64
    text = refused("E2206", load, folder, generics={"H": 3, "Vocab": 2})
    assert "H = 3" in text and "nest.toml" not in text
    assert "no generic `W`" in refused("E2111", load, folder, generics={"W": 3})


def test_fewer_layers_leave_bindings_over(card: Any, weights: Any) -> None:
    folder, files = card(), weights()
    with pytest.warns(UserWarning, match=r"2 tensors .* bound to nothing: `l1.b`, `l1.s`"):
        model = load(folder, weights=files, generics={"Layers": 1})
    assert model.unbound == ("l1.b", "l1.s")
    assert model([3]).tolist() == [[13.0, 22.0]]
    # More of them are missing.
    assert "layers.2.scale" in refused("E5002", load, folder, weights=files, generics={"Layers": 3})


def test_a_source_with_errors_is_not_loaded(card: Any) -> None:
    text = refused("E2103", load, card(("seen + x", "seen + cast<f64>(x)")))
    assert line_of("seen = seen") in text


# --- checkpoints -------------------------------------------------------------


def test_an_optional_parameter_without_binding_is_absent(card: Any, weights: Any) -> None:
    bound = {k: v for k, v in BINDINGS.items() if not k.endswith("shift")}
    two = {"l1.s": TWO["l1.s"]}
    model = load(card(("= 16", "= 12"), bindings=bound), weights=weights(two=two))
    assert model([3]).tolist() == [[12.0, 210.0]]


def test_all_that_is_wrong_with_a_checkpoint_is_one_report(card: Any, weights: Any) -> None:
    one = {"t": ONE["t"].T.copy(), "l0.s": ONE["l0.s"].astype(np.float16)}
    two = {"l0.b": TWO["l0.b"], "l1.s": TWO["l1.s"].astype(np.int32)}
    text = refused("E5002", load, card(), weights=weights(one, two))
    assert "the checkpoint lacks a tensor: `l1.b`" in text
    assert "`table` is [4, 2]" in text
    assert "`layers.0.scale` is f32" in text and "`layers.1.scale` is f32" in text
    assert "with `cast_dtype`" in text


def test_cast_dtype(card: Any, weights: Any) -> None:
    half = {k: v.astype(ml_dtypes.bfloat16) for k, v in ONE.items()}
    folder, files = card(), weights(half)
    refused("E5002", load, folder, weights=files)
    found = load(folder, weights=files, cast_dtype=True)([3])
    assert (found.dtype, found.tolist()) == (np.float32, [[13.0, 225.0]])


def test_source_and_bindings_and_files_are_reported_together(card: Any, tmp_path: Path) -> None:
    folder = card(("H = 2\n", "H = 3\n"), bindings={"table": 3})
    with pytest.raises(LinnetError) as caught:
        load(folder, weights=tmp_path / "nowhere")
    assert [d.code for d in caught.value.diagnostics] == ["E5001", "E5002", "E5003"]


# --- backends ----------------------------------------------------------------


def test_backends_that_are_not_there(card: Any) -> None:
    folder = card()
    text = refused("E2102", nest.load, folder, "tensorflow", weights="random")
    assert "the backends are `numpy`, `torch`, `jax`" in text
    text = refused("E2102", load, folder, numerics="sloppy")
    assert "no numerics policy `sloppy`" in text
    assert "no device `cuda`" in refused("E2102", load, folder, device="cuda")
    assert "no option `compile`" in refused("E2102", load, folder, compile=True)


PROBE = """
import sys
from importlib.abc import MetaPathFinder

class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "jax", "jaxlib", "triton", "onnxruntime"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
from linnet import nest
from linnet.backends import registry
from linnet.source.errors import LinnetError
# As in a version that has every backend: those that it lacks need nothing installed.
find = registry.find_spec
registry.find_spec = lambda name: find("linnet.backends") if "linnet" in name else find(name)
for backend, extra in (("torch", "linnet[torch]"), ("jax", "linnet[jax]")):
    try:
        nest.load(sys.argv[1], backend, weights="random")
    except LinnetError as error:
        assert extra in str(error), str(error)
    else:
        raise SystemExit("loaded")
print(nest.load(sys.argv[1], "numpy", weights="random")([1]).shape)
"""


def test_without_torch_and_jax_numpy_runs_and_the_others_name_their_extra(card: Any) -> None:
    run = [sys.executable, "-c", PROBE, str(card())]
    done = subprocess.run(run, capture_output=True, text=True, env=dict(os.environ), check=False)
    assert (done.returncode, done.stdout) == (0, "(1, 2)\n"), done.stderr
