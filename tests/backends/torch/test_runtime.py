"""Loading in PyTorch: devices and options, parameters without copies, states, faults."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from linnet import nest
from linnet.backends.base import Compiled, RuntimeFault, Stored, get_backend
from linnet.backends.code import Code, call, group
from linnet.backends.kernels import CallSite, Kernel
from linnet.backends.numpy.dtypes import NUMPY
from linnet.backends.torch.arrays import of_numpy
from linnet.backends.torch.backend import TorchBackend
from linnet.backends.torch.dtypes import TORCH
from linnet.dtypes import DType
from linnet.lower.module import lower_entry
from linnet.pipeline import check_paths
from linnet.source.errors import LinnetError
from tests.backends.each import to_numpy

SOURCE = """module m

pub op split<N: Dim>(x: Tensor[N; f32], by: f32) -> (Tensor[N; f32], Tensor[N; f32]) {
    return (x * by, x + by)
}

pub block Model {
    param w: Tensor[4; bf16]
    param half: Tensor[4; f32]
    state count: Tensor[2; i64]

    pub entry add(at: i64, by: i64) -> Tensor[2; i64] {
        count = count + by
        let one = iota<i64>(2)
        let picked = one[at]
        count = count + picked
        return count
    }
    pub entry weights() -> (Tensor[4; bf16], Tensor[4; f32]) { return (w, half) }
    pub entry both<N: Dim>(x: Tensor[N; f32]) -> Tensor[N; f32] {
        let (a, b) = split(x, 3.0)
        return a - b
    }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("runtime") / "m.linnet"
    path.write_text(SOURCE, "utf-8")
    result = check_paths([path])
    assert not list(result.sink)
    return result.program


def compiled(program: Any, weights: dict[str, Any]) -> Compiled:
    def lower(entry: str, given: Any) -> Any:
        return lower_entry(program, "m::Model", {}, entry, lambda _: True, dict(given))

    states = (Stored("count", (2,), DType.I64),)
    return Compiled("m", ("add", "weights", "both"), lower, weights, states)


WEIGHTS: dict[str, Any] = {
    "w": np.asarray([1, 2, -3, 0.1]).astype(NUMPY[DType.BF16]),
    "half": np.asarray([0.5] * 4, np.float32),
}


def test_states_after_runs_and_faults(program: Any) -> None:
    runtime = get_backend("torch").load(compiled(program, WEIGHTS), numerics="exact", device=None)
    one = np.asarray(1)
    (first,) = runtime.call("add", [np.asarray(1), np.asarray(5)])
    assert isinstance(first, torch.Tensor) and first.tolist() == [6, 6]
    for at in (-1, 2):
        with pytest.raises(RuntimeFault, match=f"index {at} is out of range for axis 0 of 2") as e:
            runtime.call("add", [np.asarray(at), one])
        assert e.value.place is not None
        assert runtime.state["count"].tolist() == [6, 6]
    first.fill_(0)
    assert runtime.state["count"].tolist() == [6, 6]
    (second,) = runtime.call("add", [np.asarray(0), one])
    assert second.tolist() == [7, 7]
    runtime.reset_state()
    assert runtime.state["count"].tolist() == [0, 0]
    assert runtime.state["count"].dtype == torch.int64
    assert runtime.source() is None


def test_results_are_no_views_of_parameters(program: Any) -> None:
    runtime = get_backend("torch").load(compiled(program, WEIGHTS), numerics="exact", device="cpu")
    w, half = runtime.call("weights", [])
    assert (w.dtype, half.dtype) == (torch.bfloat16, torch.float32)
    assert to_numpy(w).tobytes() == WEIGHTS["w"].tobytes()
    w.fill_(7)
    half.fill_(7)
    assert to_numpy(runtime.call("weights", [])[0]).tobytes() == WEIGHTS["w"].tobytes()
    assert WEIGHTS["half"].tolist() == [0.5] * 4


@pytest.mark.parametrize("dtype", list(DType))
@pytest.mark.parametrize("shape", [(), (0,), (3, 5)])
def test_arrays_are_taken_without_copying(dtype: DType, shape: tuple[int, ...]) -> None:
    counted = np.arange(15)[: int(np.prod(shape))].reshape(shape)
    array = np.asarray(counted % 2, NUMPY[dtype])
    found = of_numpy(array)
    assert (found.dtype, tuple(found.shape)) == (TORCH[dtype], shape)
    assert found.data_ptr() == array.ctypes.data or not array.size
    assert to_numpy(found).tobytes() == array.tobytes()


def test_mapped_files_are_taken_without_copying_and_without_a_warning(tmp_path: Path) -> None:
    np.arange(6, dtype=np.float32).tofile(tmp_path / "x")
    mapped = np.memmap(tmp_path / "x", np.float32, "r", shape=(2, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = of_numpy(mapped)
        turned = of_numpy(mapped.T)
    assert found.data_ptr() == mapped.ctypes.data
    assert turned.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_a_kernel_runs_in_place_of_a_body(program: Any) -> None:
    seen: list[CallSite] = []

    def swapped(x: torch.Tensor, by: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x + by, x * by

    def emit(site: CallSite, operands: Any) -> list[Code]:
        seen.append(site)
        return [call(swapped, *operands)]

    def emit_each(site: CallSite, operands: Any) -> list[Code]:
        return [call("torch.add", *operands), call("torch.mul", *operands)]

    x = np.asarray([1, 2, 5], np.float32)
    for emits in (emit, emit_each):
        kernel = Kernel("m::split", "test.split", "fast", lambda site: None, emits)
        backend = TorchBackend(kernels=(kernel,))
        found: dict[str, Any] = {}
        for numerics in ("fast", "exact"):
            runtime = backend.load(compiled(program, WEIGHTS), numerics=numerics, device=None)
            found[numerics] = runtime.call("both", [x])[0].tolist()
        assert found["exact"] == (x * 3 - (x + 3)).tolist()
        assert found["fast"] == (x + 3 - x * 3).tolist()
    assert [s.op for s in seen] == ["m::split"]
    assert group([]).text == "()"


@pytest.mark.parametrize(
    ("device", "options", "code", "said", "way_out"),
    [
        ("tpu0", {}, "E2102", "has no device `tpu0`", "the devices here are `cpu`"),
        ("gpu", {}, "E2102", "has no device `gpu`", "the devices here are `cpu`"),
        ("mps", {}, "E2102", "has no device `mps`", "the devices here are `cpu`"),
        ("meta", {}, "E2102", "has no device `meta`", "the devices here are `cpu`"),
        ("cpu:1", {}, "E2102", "there is no device `cpu:1` here", "the devices here are `cpu`"),
        ("cuda:64", {}, "E2102", "there is no device `cuda:64`", "the devices here are `cpu`"),
        (None, {"compiled": True}, "E2102", "no option `compiled`", "did you mean `compile`?"),
        (None, {"x": 1}, "E2102", "no option `x`", "its options are `compile`, "),
        (None, {"trainable": 1}, "E2102", "`trainable` is 1", "it is `True` or `False`"),
        (None, {"prepare": None}, "E2102", "`prepare` is None", "it is `True` or `False`"),
        (None, {"prepare": True, "compile": False}, "E2102", "without", "leave one of the two out"),
        (None, {"prepare": True, "trainable": True}, "E2102", "change", "leave one of the two out"),
        (None, {"compile": "fast"}, "E2102", "`compile` is 'fast'", "it is one of False, True, "),
        (None, {"compile": 1}, "E2102", "`compile` is 1", "it is one of False, True, "),
        (None, {"compile": [1]}, "E2102", "`compile` is [1]", "it is one of False, True, "),
    ],
)
def test_what_is_refused(
    device: Any, options: dict[str, Any], code: str, said: str, way_out: str
) -> None:
    with pytest.raises(LinnetError) as caught:
        get_backend("torch").check(device, options)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == code
    assert said in diagnostic.message
    assert diagnostic.help is not None and diagnostic.help.startswith(way_out)


@pytest.mark.parametrize("device", [None, "cpu", "cpu:0"])
def test_what_is_taken(device: Any) -> None:
    get_backend("torch").check(device, {})
    get_backend("torch").check(device, {"compile": False})


def test_the_shipped_card_runs_with_every_default() -> None:
    """The backend and `compile` are not named."""
    model = nest.load("gpt-oss-20b", tiny=True, progress=False)
    assert model.backend == "torch"
    logits = model(np.zeros((2, 3), np.int32))
    assert isinstance(logits, torch.Tensor) and logits.shape[:2] == (2, 3)
    assert not logits.requires_grad
    step: Callable[..., Any] = model.decode
    with pytest.raises(LinnetError, match="out of range"):
        step(np.zeros((2, 1), np.int32), 10**6)
    assert not any(s.any() for s in model.state.values())
