"""`nest.load` and a loaded model in the hands of somebody who mistakes them."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from linnet import nest
from linnet.dtypes import DType
from linnet.nest.random_weights import array_dtype
from linnet.nest.repair import repair
from linnet.source.errors import LinnetError
from tests.nest.small import line_of, load, refused, write_card, write_weights


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_card(tmp_path)


# --- arguments of load --------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ({"card": None}, "`card` must be a shipped card's name or the path of a card's folder"),
        ({"card": b"small"}, "folder, not a value of type `bytes`"),
        ({"card": ""}, "folder, not an empty text"),
        ({"backend": 3}, "`backend` must be a backend's name, not the number 3"),
        ({"backend": ["numpy"]}, "`backend` must be a backend's name, not a value of type `list`"),
        ({"numerics": None}, "`numerics` must be the name of a numerics policy, not `None`"),
        ({"generics": ["H", 2]}, "`generics` must be a mapping from names"),
        ({"generics": {3: 2}}, "`generics` must be a mapping from names"),
        ({"weights": 3}, '`weights` must be a path or "random", not the number 3'),
        ({"weights": ["a", "b"]}, "not a value of type `list`"),
        ({"weights": {"w": 1.0}}, "help: write them to a file: `safetensors.torch.save_file("),
        ({"weights": ""}, '`weights` must be a path or "random", not an empty text'),
        ({"cast_dtype": "false"}, "`cast_dtype` must be True or False, not `false`"),
        ({"cast_dtype": None}, "`cast_dtype` must be True or False, not `None`"),
        ({"device": 0}, "`device` must be a device or its name, not the number 0"),
        ({"offline": 1}, "`offline` must be True or False, not the number 1"),
        ({"progress": "yes"}, "`progress` must be True or False, not `yes`"),
    ],
)
def test_an_argument_of_a_wrong_kind(folder: Path, argument: Any, expected: str) -> None:
    given = {"card": folder, "backend": "numpy", "weights": "random", **argument}
    assert expected in refused("E2102", nest.load, **given)


def test_all_wrong_arguments_in_one_report(folder: Path) -> None:
    with pytest.raises(LinnetError) as caught:
        nest.load(folder, 1, numerics=2, progress=3)  # type: ignore[arg-type]
    named = [d.message.split("`")[1] for d in caught.value.diagnostics]
    assert named == ["backend", "numerics", "progress"]


@pytest.mark.parametrize(
    ("argument", "message", "way_out"),
    [
        (
            {"genercs": {"H": 2}},
            "neither `nest.load` nor the backend `numpy` has an argument `genercs`",
            "did you mean `generics`?",
        ),
        ({"wieghts": "random", "weights": None}, "argument `wieghts`", "did you mean `weights`?"),
        ({"qqq": 1}, "the backend `numpy` has no option `qqq`", "it has no options"),
        ({"generics": {"Layrs": 1}}, "has no generic `Layrs`", "did you mean `Layers`?"),
        ({"backend": "numpi"}, "there is no backend `numpi`", "did you mean `numpy`?"),
        ({"backend": "qqq"}, "there is no backend `qqq`", "the backends are `numpy`"),
        ({"numerics": "exat"}, "no numerics policy `exat`", "did you mean `exact`?"),
        ({"numerics": "qqq"}, "no numerics policy `qqq`", "the policies are `exact`"),
        ({"device": "gpu"}, "has no device `gpu`", 'use device="cpu"'),
        ({"device": "cuda"}, "has no device `cuda`", 'use device="cpu", or backend="torch"'),
    ],
)
def test_a_misspelt_word(folder: Path, argument: Any, message: str, way_out: str) -> None:
    given: dict[str, Any] = {"backend": "numpy", "weights": "random", **argument}
    with pytest.raises(LinnetError) as caught:
        nest.load(folder, **given)
    (found,) = caught.value.diagnostics
    assert message in found.message
    assert found.help is not None and found.help.startswith(way_out)


def test_all_misspelt_arguments_in_one_report(folder: Path) -> None:
    with pytest.raises(LinnetError) as caught:
        nest.load(folder, "numpy", wieghts="random", tinny=True)
    ways_out = [d.help for d in caught.value.diagnostics]
    assert ways_out == ["did you mean `weights`?", "did you mean `tiny`?"]


def test_paths_that_lead_nowhere(folder: Path) -> None:
    assert "cannot be read: file name too long" in refused("E5001", load, Path("x" * 5000))
    assert "there is no card named `a\\x00b`" in refused("E5001", load, Path("a\0b"))
    assert "does not exist" in refused("E5003", load, folder, weights="a\0b")


def test_numpy_integers_are_dimensions(folder: Path) -> None:
    model = load(folder, generics={"H": np.int64(4), "Layers": np.uint8(1)})
    assert model.generics == {"Vocab": 4, "H": 4, "Layers": 1, "T": "f32"}
    assert {type(v) for v in model.generics.values()} == {int, str}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, "`true`"),
        (2.0, "the number 2.0"),
        (float("nan"), "the number nan"),
        ("2", "`2`"),
        (-2, "the number -2"),
        (2**63, "a large number"),
        (None, "null"),
        (np.array([2, 4]), "a value of type `ndarray`"),
    ],
)
def test_a_generic_that_is_no_dimension(folder: Path, value: Any, words: str) -> None:
    text = refused("E2111", load, folder, generics={"H": value})
    assert f"`H` is a dimension, an integer from 0 to 2^63 - 1, not {words}" in text


@pytest.mark.parametrize("value", ["i32", "F32", "float32", "", 32, np.float32, None])
def test_a_generic_that_is_no_float_dtype(folder: Path, value: Any) -> None:
    code = "E2112" if value == "i32" else "E2111"
    text = refused(code, load, folder, generics={"T": value})
    assert "`T` is Float, one of f16, bf16, f32, f64, not " in text


def test_a_device_or_option_is_refused_before_a_weight_is_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = write_weights(tmp_path)
    monkeypatch.setattr("linnet.nest.loading._read", pytest.fail)
    refused("E2102", load, folder, weights=weights, device="cuda")
    refused("E2102", load, folder, weights=weights, compile=True)


def test_more_than_there_can_be(folder: Path) -> None:
    text = refused("E5004", load, folder, generics={"H": 2**62})
    assert "`small` needs more memory than there is: " in text
    assert "bind smaller generics" in text


def test_more_layers_than_any_model_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [f"layers.{i}.{name}" for i in range(32) for name in ("scale", "shift")]
    folder = write_card(tmp_path, bindings={name: name for name in ("table", *parts)})
    monkeypatch.setattr("linnet.lower.instances.LIMIT", 100)
    # The table and the state, and of each layer the block and two vectors.
    assert load(folder, generics={"Layers": 32}).generics["Layers"] == 32
    for layers in (33, 10**15):
        text = refused("E5004", load, folder, generics={"Layers": layers})
        assert "`small::Model` has more than 100 parameters and blocks" in text
        assert line_of("pub block Model") in text


LIMITED = """
import resource, sys
import numpy as np
from linnet import nest
from linnet.source.errors import LinnetError

model = nest.load(sys.argv[1], "numpy", weights="random")
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
for call in (
    lambda: nest.load(sys.argv[1], "numpy", weights="random", generics={"H": 10**9}),
    lambda: model.forward(np.zeros(10**8, np.int32)),
):
    try:
        call()
    except LinnetError as error:
        (found,) = error.diagnostics
        print(found.code, found.message)
print(model.forward([1]).shape)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the address space")
def test_more_memory_than_there_is(folder: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        # 10^9 of each: four rows of the table and four vectors, and one state.
        "E5004 `small` needs more memory than there is: "
        "29.8 GiB of parameters and 3.7 GiB of state",
        "E5004 `forward` needs more memory than there is",
        "(1, 2)",
    ], done.stderr


# --- a loaded model -----------------------------------------------------------


def test_what_a_model_tells_cannot_be_set(folder: Path) -> None:
    model = load(folder)
    with pytest.raises(TypeError):
        model.generics["H"] = 4  # type: ignore[index]
    with pytest.raises(TypeError):
        model.state["more"] = np.zeros(2)  # type: ignore[index]
    assert model.remember([1, 2]).tolist() == [1, 2]


@pytest.mark.parametrize("name", ["forwrd", "", "forward ", "run", 3, None, []])
def test_an_entry_that_is_not_there(folder: Path, name: Any) -> None:
    assert "its entries are forward, remember" in refused("E2107", load(folder).entry, name)


def test_a_misspelt_entry(folder: Path) -> None:
    model = load(folder)
    text = refused("E2107", model.entry, "remembr")
    assert "did you mean `remember`?" in text and "its entries are forward, remember" in text
    with pytest.raises(AttributeError, match=r"its entries are .*; did you mean `remember`\?"):
        _ = model.remembr


@pytest.mark.parametrize(
    ("value", "dtype", "way_out"),
    [
        (np.zeros(1), DType.I32, "convert it: `.astype(np.int32)`"),
        (np.zeros(1), DType.F32, "convert it: `.astype(np.float32)`"),
        (np.zeros(1, bool), DType.U8, "convert it: `.astype(np.uint8)`"),
        (np.zeros(1, np.int32), DType.BOOL, "convert it: `.astype(np.bool_)`"),
        (np.float64(1), DType.F16, "convert it: `.astype(np.float16)`"),
        (np.zeros(1, np.float32), DType.BF16, "convert it: `.astype(ml_dtypes.bfloat16)`"),
        (np.zeros(1, ml_dtypes.bfloat16), DType.F32, "convert it: `.astype(np.float32)`"),
        ([1.5], DType.I64, "give whole numbers"),
        ([True], DType.F32, "give numbers"),
        ([1], DType.BOOL, "give True or False"),
        (np.zeros(1, [("a", "i4")]), DType.I32, None),
    ],
)
def test_the_way_out_of_another_dtype(value: Any, dtype: DType, way_out: str | None) -> None:
    found = np.asarray(value)
    assert repair(value, found, dtype) == way_out
    method = re.search(r"`(\..*)`", way_out or "")
    if method:
        converted = eval(f"value{method[1]}", {"value": value, "np": np, "ml_dtypes": ml_dtypes})
        assert converted.dtype == array_dtype(dtype.value)


def test_the_way_out_is_told(folder: Path) -> None:
    assert "help: convert it: `.astype(np.int32)`" in refused("E2103", load(folder), np.ones(1))


def test_masked_elements_have_no_value(folder: Path) -> None:
    model = load(folder)
    text = refused("E2101", model, np.ma.array([1, 2], mask=[False, True]))
    assert "`tokens` has masked elements" in text and ".filled(0)" in text
    assert model(np.ma.array([1, 2])).shape == (2, 2)


class Stubborn:
    """An array of a library that has conditions."""

    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise self.error("detach it first\nand so on")


@pytest.mark.parametrize("error", [TypeError, RuntimeError, AttributeError, AssertionError])
def test_what_another_library_asks_for_is_told(folder: Path, error: type[Exception]) -> None:
    text = refused("E2101", load(folder), Stubborn(error))
    assert "`tokens` is no array of numbers" in text
    assert "note: detach it first\n" in text and "and so on" not in text


def test_tensors_of_torch(folder: Path) -> None:
    torch = pytest.importorskip("torch")
    model = load(folder)
    assert model(torch.tensor([1, 2])).tolist() == model([1, 2]).tolist()
    assert model.keep(torch.tensor([1.0, 2.0])).tolist() == [1, 2]
    # Its dtype was chosen, as that of a NumPy array is.
    text = refused("E2103", model.keep, torch.tensor([1.0, 2.0], dtype=torch.float64))
    assert "`x` is float64, float32 is asked for" in text
    assert "help: convert it: `.to(torch.float32)`" in text
    text = refused("E2101", model.keep, torch.tensor([1.0, 2.0], requires_grad=True))
    assert "detach" in text


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "E2101"),
        ("1", "E2101"),
        (b"1", "E2101"),
        (object(), "E2101"),
        ({0: 1}, "E2101"),
        ([None], "E2101"),
        ([[1], [1, 2]], "E2101"),
        ([10**100], "E2105"),
        ([10**5000], "E2105"),
        (np.array([1j]), "E2101"),
        (np.array(["2020"], "M8[Y]"), "E2101"),
        (np.array([1], object), "E2101"),
        (1, "E2202"),
        (np.int32(1), "E2202"),
        ([[1]], "E2202"),
        ([True], "E2103"),
        ([1.0], "E2103"),
        (np.zeros(1, [("a", "i4")]), "E2103"),
        ([2**31], "E2105"),
        (np.array([2**64 - 1], np.uint64), "E2105"),
        ([4], "E2209"),
        ([-1], "E2209"),
    ],
)
def test_tokens_that_are_none(folder: Path, value: Any, code: str) -> None:
    refused(code, load(folder), value)


@pytest.mark.parametrize(
    "value",
    [
        (1, 3),
        range(1, 5, 2),
        np.array([1, 3], ">i4"),
        np.array([1, 3], np.uint64),
        np.asfortranarray([[1, 9], [3, 9]])[:, 0],
        np.array([3, 9, 1], np.int16)[::-2],
        np.frombuffer(b"\1\0\0\0\3\0\0\0", "<i4"),
        [np.int8(1), np.int64(3)],
        memoryview(b"\1\3"),
    ],
)
def test_tokens_in_any_container(folder: Path, value: Any) -> None:
    model = load(folder)
    assert model(value).tolist() == model(np.array([1, 3], np.int32)).tolist()


# --- copies and threads -------------------------------------------------------


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, pickle.dumps])
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_a_model_is_not_copied(folder: Path, backend: str, how: Callable[[Any], Any]) -> None:
    pytest.importorskip(backend)
    model = nest.load(folder, backend=backend, weights="random")
    text = refused("E2190", how, model)
    assert "`small` cannot be copied or pickled" in text and "help: load it again: " in text


def test_weights_of_one_model_for_another(folder: Path) -> None:
    torch = pytest.importorskip("torch")
    one: Any = nest.load(folder, backend="torch", weights="random")
    other: Any = nest.load(folder, backend="torch", weights="random")
    with torch.no_grad():
        one.table.fill_(3.0)
    assert not torch.equal(one([1, 2]), other([1, 2]))
    other.load_state_dict(one.state_dict())
    assert torch.equal(one([1, 2]), other([1, 2]))


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_no_step_is_lost_between_threads(folder: Path, backend: str) -> None:
    pytest.importorskip(backend)
    model = nest.load(folder, backend=backend, weights="random")

    def steps() -> None:
        for _ in range(25):
            model.remember([1.0, 2.0])

    threads = [Thread(target=steps) for _ in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert np.asarray(model.remember([0.0, 0.0])).tolist() == [100.0, 200.0]
