"""Tensor data: the right values as views of the file, and what reading them costs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from safetensors import safe_open

from linnet.nest.bindings import Bindings
from linnet.nest.checkpoint import Checkpoint, read_headers
from linnet.nest.locate import Files
from linnet.nest.match import ParameterDecl, match
from linnet.nest.mxfp4 import count_parameters
from linnet.nest.read import read_parameters, refuse_nan_scales
from linnet.source.diagnostics import Sink
from linnet.source.errors import LinnetError

TINY = Path(__file__).parents[2] / ".." / "shared" / "fixtures" / "gpt-oss-tiny"
needs_tiny = pytest.mark.skipif(not TINY.exists(), reason="../shared is absent")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def opened(*paths: Path) -> Checkpoint:
    sink = Sink()
    checkpoint = read_headers(Files(tuple(paths)), sink)
    assert not list(sink)
    assert checkpoint is not None
    return checkpoint


def one(write: Callable[..., Path], dtype: str, shape: list[int], data: bytes) -> Any:
    entry = {"dtype": dtype, "shape": shape, "data_offsets": [0, len(data)]}
    checkpoint = opened(write("m.safetensors", {"w": entry}, data))
    return checkpoint.array(checkpoint.tensors["w"])


@needs_tiny
def test_equals_the_formats_own_library() -> None:
    torch = pytest.importorskip("torch")
    files = sorted(TINY.glob("*.safetensors"))
    checkpoint = opened(*files)
    seen = 0
    for file in files:
        with safe_open(file, "pt") as reference:
            for name in reference.keys():  # noqa: SIM118
                expected = reference.get_tensor(name)
                array = checkpoint.array(checkpoint.tensors[name])
                assert array.shape == tuple(expected.shape)
                assert array.dtype == (BFLOAT16 if expected.dtype == torch.bfloat16 else np.uint8)
                assert array.tobytes() == expected.contiguous().view(torch.uint8).numpy().tobytes()
                assert not array.flags.writeable
                assert not array.flags.owndata
                seen += 1
    assert seen == len(checkpoint.tensors) == 79


@needs_tiny
def test_counts_the_weights_of_a_checkpoint() -> None:
    checkpoint = opened(*sorted(TINY.glob("*.safetensors")))
    # Vocab 320, H 64, 4 layers of: attention 8 and 2 heads of 16, 8 experts of width 96.
    attention = 64 * 128 + 128 + 2 * (64 * 32 + 32) + 128 * 64 + 64 + 8
    experts = 8 * (192 * 64 + 192 + 64 * 96 + 64) + 8 * 64 + 8
    expected = 2 * 320 * 64 + 64 + 4 * (attention + experts + 2 * 64)
    tensors = {t.name: (t.shape, t.dtype) for t in checkpoint.tensors.values()}
    assert count_parameters(tensors) == expected


@pytest.mark.parametrize(
    ("dtype", "data", "expected"),
    [
        ("BF16", b"\x80\x3f", np.array([1], BFLOAT16)),
        ("F16", b"\x00\x3c", np.array([1], np.float16)),
        ("F32", b"\x00\x00\x80\x3f", np.array([1], np.float32)),
        ("F64", b"\x00" * 6 + b"\xf0\x3f", np.array([1], np.float64)),
        ("I16", b"\xfe\xff", np.array([-2], np.int16)),
        ("U64", b"\xff" * 8, np.array([2**64 - 1], np.uint64)),
        ("BOOL", b"\x01", np.array([True])),
        ("F8_E4M3", b"\x38", np.array([0x38], np.uint8)),
        ("F8_E5M2", b"\x3c", np.array([0x3C], np.uint8)),
    ],
)
def test_dtypes(write_tensors: Callable[..., Path], dtype: str, data: bytes, expected: Any) -> None:
    array = one(write_tensors, dtype, [1], data)
    assert (array.dtype, array.tolist()) == (expected.dtype, expected.tolist())
    assert array.tobytes() == data


def test_shapes_without_elements_and_without_dimensions(write_tensors: Callable[..., Path]) -> None:
    assert one(write_tensors, "F32", [0, 3], b"").shape == (0, 3)
    assert one(write_tensors, "F32", [], b"\x00\x00\x80\x3f").tolist() == 1.0


def test_a_misaligned_tensor(write_tensors: Callable[..., Path]) -> None:
    for spaces in range(4):
        entry = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}' + b" " * spaces
        path = write_tensors("m.safetensors", entry, np.array([1.5], np.float32).tobytes())
        checkpoint = opened(path)
        array = checkpoint.array(checkpoint.tensors["w"])
        assert (array.tolist(), array.flags.aligned, array.flags.writeable) == ([1.5], True, False)


def test_converts_to_nearest_even(write_tensors: Callable[..., Path]) -> None:
    values = [0.2691408770292272, 1.00390625, 1.01171875, 3.4e38, float("nan")]
    data = np.array(values, np.float32).tobytes()
    entry = {"dtype": "F32", "shape": [5], "data_offsets": [0, 20]}
    checkpoint = opened(write_tensors("m.safetensors", {"w": entry}, data))
    with np.errstate(all="raise"):
        array = checkpoint.converted(checkpoint.tensors["w"], BFLOAT16)
    assert array.dtype == BFLOAT16
    assert array[:4].astype(np.float64).tolist() == [0.26953125, 1.0, 1.015625, float("inf")]
    assert np.isnan(array[4])


def test_converts_f64_with_one_rounding(write_tensors: Callable[..., Path]) -> None:
    # By way of f32 it would become 1.0: a tie that the last bits decide.
    data = np.array([1 + 2**-8 + 2**-40], np.float64).tobytes()
    entry = {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}
    checkpoint = opened(write_tensors("m.safetensors", {"w": entry}, data))
    array = checkpoint.converted(checkpoint.tensors["w"], BFLOAT16)
    assert array.astype(np.float64).tolist() == [1.0078125]


def declared(path: str, shape: tuple[int, ...], dtype: str) -> ParameterDecl:
    return ParameterDecl(path, shape, dtype)


def test_parameters_in_their_declared_dtypes(write_tensors: Callable[..., Path]) -> None:
    header = {
        "a": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]},
        "b": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]},
    }
    data = np.array([1, 2], BFLOAT16).tobytes() + np.array([3], np.float32).tobytes()
    checkpoint = opened(write_tensors("m.safetensors", header, data))
    parameters = [
        declared("a", (2,), "f32"),
        declared("b", (1,), "f32"),
        declared("c", (2,), "f32"),
    ]
    report = match(
        parameters, Bindings(implicit=True), checkpoint, cast_dtype=True, tied=[("a", "c")]
    )
    assert not report.problems
    done: list[int] = []
    found = dict(read_parameters(parameters, report, checkpoint, advance=done.append))
    assert {p: (a.dtype.name, a.tolist()) for p, a in found.items()} == {
        "a": ("float32", [1, 2]),
        "b": ("float32", [3]),
        "c": ("float32", [1, 2]),
    }
    assert found["a"] is found["c"]
    assert done == [4, 4, 4]


def test_a_scale_that_is_not_a_number(write_tensors: Callable[..., Path]) -> None:
    header = {
        "x_blocks": {"dtype": "U8", "shape": [2, 3, 16], "data_offsets": [0, 96]},
        "x_scales": {"dtype": "U8", "shape": [2, 3], "data_offsets": [96, 102]},
        "other": {"dtype": "U8", "shape": [1], "data_offsets": [102, 103]},
    }
    data = b"\xff" * 96 + bytes([0, 127, 254, 1, 255, 255]) + b"\xff"
    path = write_tensors("m.safetensors", header, data)
    checkpoint = opened(path)
    parameters = [declared(t.name, t.shape, "u8") for t in checkpoint.tensors.values()]
    report = match(parameters, Bindings(implicit=True), checkpoint)
    with pytest.raises(LinnetError) as caught:
        list(read_parameters(parameters, report, checkpoint))
    (found,) = caught.value.diagnostics
    assert found.code == "E5002"
    assert found.message == (
        f"{path}: tensor `x_scales`: the scale at [1, 1] is 255, which is not a number"
    )
    assert found.message in str(caught.value)


def test_scales_in_range_are_kept() -> None:
    assert refuse_nan_scales("x", np.arange(255, dtype=np.uint8)) is None


def test_a_file_that_changed_since_the_check(write_tensors: Callable[..., Path]) -> None:
    entry = {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}
    path = write_tensors("m.safetensors", {"w": entry}, bytes(4))
    checkpoint = opened(path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(LinnetError, match="bytes now"):
        checkpoint.array(checkpoint.tensors["w"])
    path.unlink()
    with pytest.raises(LinnetError, match="no such file"):
        checkpoint.array(checkpoint.tensors["w"])


# The high-water mark of resident memory, in KiB, is reset through `clear_refs`.
PROBE = """
import sys
from pathlib import Path
import ml_dtypes
import numpy as np
from linnet.nest.checkpoint import read_headers
from linnet.nest.locate import Files
from linnet.nest.read import read_parameters
from linnet.nest.match import ParameterDecl, match
from linnet.nest.bindings import Bindings
from linnet.source.diagnostics import Sink

def status(key):
    return int(Path("/proc/self/status").read_text().split(key + ":")[1].split()[0])

def warm():
    a = np.ones(4096, np.float32).astype(ml_dtypes.bfloat16).astype(np.float32)
    return a.sum()

def everything(path, dtype):
    checkpoint = read_headers(Files((path,)), Sink())
    ps = [ParameterDecl(t.name, t.shape, dtype) for t in checkpoint.tensors.values()]
    report = match(ps, Bindings(implicit=True), checkpoint, cast_dtype=True)
    assert not report.problems
    kept = dict(read_parameters(ps, report, checkpoint))
    return kept, sum(int(a.view(np.uint8).sum()) for a in kept.values())

def names(path):
    return read_headers(Files((path,)), Sink())

def single(path):
    checkpoint = read_headers(Files((path,)), Sink())
    array = checkpoint.array(checkpoint.tensors["t7"])
    return array, array.view(np.uint8).sum()

path = Path(sys.argv[2])
warm()
small = path.with_name("small.safetensors")
for run in (names, single):
    run(small)
everything(small, "bf16")
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
kept = {
    "names": lambda: names(path),
    "single": lambda: single(path),
    "all": lambda: everything(path, "bf16"),
}[sys.argv[1]]()
print(status("VmHWM") - before)
"""


def model_file(path: Path, dtype: str, nbytes: int) -> None:
    import json

    names = [f"t{i}" for i in range(64)]
    width = {"BF16": 2, "F32": 4}[dtype]
    header = {
        n: {
            "dtype": dtype,
            "shape": [nbytes // width],
            "data_offsets": [i * nbytes, (i + 1) * nbytes],
        }
        for i, n in enumerate(names)
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for i in range(64):
            file.write(bytes([i]) * nbytes)


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="needs Linux's counters of resident memory"
)
@pytest.mark.parametrize(
    ("what", "dtype", "limit"),
    [
        ("names", "BF16", 2 << 10),
        ("single", "BF16", 4 << 10),
        # The views are of the file; the conversion holds only what it makes.
        ("all", "BF16", int(1.15 * (64 << 10))),
        ("all", "F32", int(1.15 * (32 << 10)) + (4 << 10)),
    ],
)
def test_memory(tmp_path: Path, what: str, dtype: str, limit: int) -> None:
    model_file(tmp_path / "m.safetensors", dtype, 1 << 20)
    model_file(tmp_path / "small.safetensors", dtype, 16)
    command = [sys.executable, "-c", PROBE, what, str(tmp_path / "m.safetensors")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) < limit
