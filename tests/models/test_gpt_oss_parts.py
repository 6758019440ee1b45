"""The parts of the gpt-oss card, called from a package that depends on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from linnet.backends.numpy.interpreter import run
from linnet.lower.module import lower_function
from linnet.pipeline import check_paths

CARD = Path(__file__).parents[2] / "models" / "gpt-oss-20b"


def call(folder: Path, use: str, entry: str, *args: Any) -> list[NDArray[Any]]:
    """The results of `pub entry probe` + `entry`, in a package whose dependency is the card."""
    (folder / "src").mkdir()
    (folder / "linnet.toml").write_text(
        '[package]\nname = "probe"\nversion = "0.1.0"\nlanguage = "0.1"\n\n'
        f'[dependencies]\ngpt_oss = {{ path = "{CARD.as_posix()}" }}\n'
    )
    (folder / "src" / "lib.linnet").write_text(
        f"module probe\n\nuse {use}\n\npub entry probe{entry}\n"
    )
    result = check_paths([folder])
    assert not list(result.sink)
    return run(lower_function(result.program, "probe::probe"), [np.asarray(a) for a in args])


def layer_names(path: str, layer: str) -> dict[str, str]:
    """The parameters of the layer at `path`, by the tensors of the checkpoint's `layer`."""
    plain = ["input_layernorm.weight", "post_attention_layernorm.weight", "self_attn.sinks"]
    plain += [f"self_attn.{x}_proj.{y}" for x in "qkvo" for y in ("weight", "bias")]
    plain += ["mlp.router.weight", "mlp.router.bias"]
    names = {f"{path}.{name}": f"{layer}.{name}" for name in plain}
    for ours, theirs in (("gate_up", "gate_up_proj"), ("down", "down_proj")):
        for part in ("blocks", "scales", "bias"):
            names[f"{path}.mlp.{ours}_{part}"] = f"{layer}.mlp.experts.{theirs}_{part}"
    return names


def test_every_tensor_of_the_checkpoint_is_bound() -> None:
    want = {
        "embed_tokens.weight": "model.embed_tokens.weight",
        "norm.weight": "model.norm.weight",
        "lm_head.weight": "lm_head.weight",
    }
    for pair in range(12):
        for kind, layer in (("sliding", 2 * pair), ("full", 2 * pair + 1)):
            want |= layer_names(f"pairs.{pair}.{kind}", f"model.layers.{layer}")
    assert len(want) == 459
    assert json.loads((CARD / "bindings.json").read_text()) == want


def test_rotations_blend_between_fractional_dimensions(tmp_path: Path) -> None:
    cosines, sines = call(
        tmp_path,
        "gpt_oss.rope::{rotations}",
        "(at: Tensor[2; i32]) -> (Tensor[2, 64; f32], Tensor[2, 64; f32]) {\n"
        "    return rotations<2, 64, f32>(at)\n}",
        np.array([0, 1], np.int32),
    )
    concentration = 1.3465736
    assert cosines[0] == pytest.approx(concentration, rel=1e-6)
    assert sines[0] == pytest.approx(0.0)
    # Position 1 turns by the frequency itself; the two halves are equal.
    frequency = np.arctan2(sines[1].astype(np.float64), cosines[1].astype(np.float64))
    assert frequency[:32] == pytest.approx(frequency[32:])
    plain = 150000.0 ** (-np.arange(32) / 32)
    assert frequency[8] == pytest.approx(plain[8], rel=1e-4)
    assert frequency[12] == pytest.approx(0.00679496, rel=1e-4)
    assert frequency[17] == pytest.approx(1.29319e-4, rel=1e-4)
    assert frequency[18] == pytest.approx(plain[18] / 32, rel=1e-4)


@pytest.mark.parametrize(
    ("pairs", "want"),
    [
        ([1, 0], [0.8457958]),
        ([8, -8], [-41.9997187]),
        ([8, 8], [55.9996250]),
        ([-10, 2], [-1.21739e-6]),
        ([7, -1], [0.0]),
        ([1, 2, 3, 4], [2.5373873, 14.9096434]),
    ],
)
def test_gate_is_capped_above_only(tmp_path: Path, pairs: list[float], want: list[float]) -> None:
    half = len(want)
    (got,) = call(
        tmp_path,
        "gpt_oss.experts::{gated}",
        f"(x: Tensor[{2 * half}; f32]) -> Tensor[{half}; f32] {{\n"
        f"    return gated<[], {half}, f32>(x)\n}}",
        np.array(pairs, np.float32),
    )
    assert got == pytest.approx(want, rel=1e-5)


@pytest.mark.parametrize(
    ("logits", "experts", "weights"),
    [
        ([1, 2, 3, 4], [3, 2], [0.7310586, 0.2689414]),
        ([5, 1, 5, 5], [0, 2], [0.5, 0.5]),
        ([-1e30, 2, 0, -3], [1, 2], [0.8807971, 0.1192029]),
    ],
)
def test_choice_is_by_logits_and_weighs_the_chosen_alone(
    tmp_path: Path, logits: list[float], experts: list[int], weights: list[float]
) -> None:
    got = call(
        tmp_path,
        "gpt_oss.experts::{choose}",
        "(x: Tensor[1, 4; f32]) -> (Tensor[1, 2; i64], Tensor[1, 2; f32]) {\n"
        "    return choose<1, 2, 4, f32>(x)\n}",
        np.array([logits], np.float32),
    )
    assert got[0].tolist() == [experts]
    assert got[1][0] == pytest.approx(weights, rel=1e-6)


def test_router_that_computes_no_number_still_names_experts(tmp_path: Path) -> None:
    got = call(
        tmp_path,
        "gpt_oss.experts::{choose}",
        "(x: Tensor[1, 4; f32]) -> (Tensor[1, 2; i64], Tensor[1, 2; f32]) {\n"
        "    return choose<1, 2, 4, f32>(x)\n}",
        np.full((1, 4), np.nan, np.float32),
    )
    assert ((got[0] >= 0) & (got[0] < 4)).all()


def test_window_counts_the_query_itself(tmp_path: Path) -> None:
    (got,) = call(
        tmp_path,
        "gpt_oss.masks::{window_mask}",
        "(at: Tensor[1, 3; i32]) -> Tensor[1, 3, 200; bool] {\n"
        "    return window_mask<1, 3, 200>(at, 128)\n}",
        np.array([[0, 127, 128]], np.int32),
    )
    seen = [np.flatnonzero(row).tolist() for row in got[0]]
    assert seen == [[0], list(range(128)), list(range(1, 129))]


def test_packed_prompts_do_not_see_each_other(tmp_path: Path) -> None:
    (got,) = call(
        tmp_path,
        "gpt_oss.masks::{packed_mask}",
        "(segments: Tensor[6; i32], at: Tensor[6; i32]) -> Tensor[1, 6, 6; bool] {\n"
        "    return packed_mask(segments, at, 2)\n}",
        np.array([0, 0, 0, 1, 1, 2], np.int32),
        np.array([0, 1, 2, 0, 1, 0], np.int32),
    )
    seen = [np.flatnonzero(row).tolist() for row in got[0]]
    assert seen == [[0], [0, 1], [1, 2], [3], [3, 4], [5]]
