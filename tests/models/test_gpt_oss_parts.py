"""The parts of the gpt-oss card, called from a package that depends on it."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from linnet.backends.numpy.interpreter import run
from linnet.cli.main import main
from linnet.lower.module import lower_function
from linnet.pipeline import check_paths

UNIT = 2.0**-24  # the most that a rounding to f32 changes, relative to the value
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


def test_speeds_blend_between_fractional_dimensions(tmp_path: Path) -> None:
    cosines, sines = call(
        tmp_path,
        "gpt_oss.rope::{turns}",
        "(at: Tensor[2; i32]) -> (Tensor[2, 64; f32], Tensor[2, 64; f32]) {\n"
        "    let all = turns<2, 64, f32>(at)\n    return (all.cosines, all.sines)\n}",
        np.array([0, 1], np.int32),
    )
    # Eight digits are given, and f32 rounds the logarithm, its tenth, the sum and the product.
    concentration = 1.3465736
    assert cosines[0] == pytest.approx(concentration, rel=4e-8 + 4 * UNIT)
    assert (sines[0] == 0.0).all()
    # Position 1 turns by the frequency itself; the two halves are equal.
    frequency = np.arctan2(sines[1].astype(np.float64), cosines[1].astype(np.float64))
    assert frequency[:32].tolist() == frequency[32:].tolist()
    # Six digits are given. f32 rounds an exponent of up to log(theta) = 12 three times, which
    # is a relative error of the power, and a few products more.
    close = 5e-6 + (3 * 12 + 10) * UNIT
    plain = 150000.0 ** (-np.arange(32) / 32)
    assert frequency[8] == pytest.approx(plain[8], rel=close)
    assert frequency[12] == pytest.approx(0.00679496, rel=close)
    assert frequency[17] == pytest.approx(1.29319e-4, rel=close)
    assert frequency[18] == pytest.approx(plain[18] / 32, rel=close)
    # The bounds of the blend, from the two frequencies that are in it: with bounds rounded to
    # 8 and 18 they would be 0.00701571 and 2.27948e-4.
    shares = (1 - frequency[[9, 17]] / plain[[9, 17]]) * 32 / 31
    width = 8 / (shares[1] - shares[0])
    low = 9 - shares[0] * width
    # The width is 9.3, so an error of both shares moves a bound by less than twenty of them.
    assert low == pytest.approx(8.0927791, abs=20 * close)
    assert low + width == pytest.approx(17.3980245, abs=20 * close)


def test_a_token_meets_a_sixth_of_the_weights(capsys: pytest.CaptureFixture[str]) -> None:
    """The README's counts: all, and without 28 of 32 experts and the table of words."""
    assert main(["nest", "show", "gpt-oss-20b"]) == 0
    total, met = 0, 0
    for name, shape in re.findall(
        r"^  (\S+) +\[([\d, ]+)\] (?:bf16|u8)$", capsys.readouterr().out, re.M
    ):
        count = math.prod(map(int, shape.split(", ")))
        count *= 2 if name.endswith("_blocks") else 0 if name.endswith("_scales") else 1
        total += count
        if ".mlp." in name and "router" not in name:
            assert shape.startswith("32, ")
            met += count // 32 * 4
        elif name != "embed_tokens.weight":
            met += count
    assert (total, met) == (20_914_757_184, 3_608_307_264)


@pytest.mark.parametrize("width", [2, 4, 6, 16, 64, 130])
def test_speeds_are_those_of_transformers(tmp_path: Path, width: int) -> None:
    """At a width of 4 the line ends at 1.09, beyond the last pair: an end that is kept within the
    pairs, as other ports have it, would slow that pair by the whole factor."""
    rope = pytest.importorskip("transformers.modeling_rope_utils")
    gpt_oss = pytest.importorskip("transformers.models.gpt_oss.configuration_gpt_oss")
    config = gpt_oss.GptOssConfig(head_dim=width)
    inverse, concentration = rope.ROPE_INIT_FUNCTIONS["yarn"](config, "cpu")
    cosines, sines = call(
        tmp_path,
        "gpt_oss.rope::{turns}",
        f"(at: Tensor[2; i32]) -> (Tensor[2, {width}; f32], Tensor[2, {width}; f32]) {{\n"
        f"    let all = turns<2, {width}, f32>(at)\n    return (all.cosines, all.sines)\n}}",
        np.array([0, 1], np.int32),
    )
    assert cosines[0] == pytest.approx(concentration, rel=4 * UNIT)
    speed = np.arctan2(sines[1].astype(np.float64), cosines[1].astype(np.float64))
    # Both sides round in f32: an exponent of up to log(theta) = 12 three times, which is a
    # relative error of the power, and the blend: its ends and the pair are up to 0.28 of the
    # width, and an error of a share is up to 31 times one of the smallest speed, 1 of 32.
    line = (np.log(32.0) / (2 * np.log(150000.0))) * width
    share = 4 * 0.28 * width / line
    bound = 2 * (3 * 12 + 10 + 32 * share) * UNIT
    np.testing.assert_allclose(speed, np.tile(inverse.double().numpy(), 2), rtol=bound, atol=0)


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
        f"(x: Tensor[{2 * half}; f32]) -> Tensor[{half}; f32] {{\n    return gated(x)\n}}",
        np.array(pairs, np.float32),
    )
    # Six digits or more are given. f32 rounds 1.702 and its product with the gate, at most 17 in
    # size, which are relative errors of the exponential; then six operations.
    assert got == pytest.approx(want, rel=5e-6 + (2 * 17 + 6) * UNIT, abs=0)


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
        "    let to = choose<1, 2, 4, f32>(x)\n    return (to.experts, to.shares)\n}",
        np.array([logits], np.float32),
    )
    assert got[0].tolist() == [experts]
    assert got[1][0] == pytest.approx(weights, rel=1e-6)


def test_router_that_computes_no_number_still_names_experts(tmp_path: Path) -> None:
    got = call(
        tmp_path,
        "gpt_oss.experts::{choose}",
        "(x: Tensor[1, 4; f32]) -> (Tensor[1, 2; i64], Tensor[1, 2; f32]) {\n"
        "    let to = choose<1, 2, 4, f32>(x)\n    return (to.experts, to.shares)\n}",
        np.full((1, 4), np.nan, np.float32),
    )
    assert ((got[0] >= 0) & (got[0] < 4)).all()


def test_window_counts_the_query_itself(tmp_path: Path) -> None:
    near, far = call(
        tmp_path,
        "gpt_oss.masks::{sight}",
        "(at: Tensor[1, 3; i32]) -> (Tensor[1, 3, 200; bool], Tensor[1, 3, 200; bool]) {\n"
        "    let seen = sight<1, 3, 200>(at, 128)\n    return (seen.near, seen.far)\n}",
        np.array([[0, 127, 128]], np.int32),
    )
    assert seen_by(near) == [[0], list(range(128)), list(range(1, 129))]
    assert seen_by(far) == [[0], list(range(128)), list(range(129))]


def seen_by(mask: NDArray[Any]) -> list[list[int]]:
    return [np.flatnonzero(row).tolist() for row in mask[0]]


@pytest.mark.parametrize(
    ("sink", "want"),
    [(-np.inf, [0.0, 0.5, 1.0, 2.0, 3.0]), (0.0, [0.0, 1 / 3, 3 / 4, 1.5, 2.25])],
)
def test_a_window_of_three_under_attention(tmp_path: Path, sink: float, want: list[float]) -> None:
    """Scores are zero and value `j` is `j`: each result is the mean of what a query sees."""
    (got,) = call(
        tmp_path,
        "gpt_oss.masks::{sight}\nuse std.nn.attention::{sink_attention}",
        "(q: Tensor[1, 1, 5, 1; f32], v: Tensor[1, 1, 5, 1; f32], s: Tensor[1; f32]) "
        "-> Tensor[1, 1, 5, 1; f32] {\n"
        "    let seen = sight<1, 5, 5>(reshape(iota<i32>(5), [1, 5]), 3)\n"
        "    return sink_attention(q, q, v, s, 1.0, seen.near)\n}",
        np.zeros((1, 1, 5, 1), np.float32),
        np.arange(5, dtype=np.float32).reshape(1, 1, 5, 1),
        np.array([sink], np.float32),
    )
    # The weights are ones and their sums exact: only the quotient rounds.
    assert got.ravel() == pytest.approx(want, rel=UNIT, abs=0)


def test_packed_texts_do_not_see_each_other(tmp_path: Path) -> None:
    near, far = call(
        tmp_path,
        "gpt_oss.masks::{packed_sight}",
        "(segments: Tensor[6; i32], at: Tensor[6; i32]) "
        "-> (Tensor[1, 6, 6; bool], Tensor[1, 6, 6; bool]) {\n"
        "    let seen = packed_sight(segments, at, 2, 64)\n    return (seen.near, seen.far)\n}",
        np.array([0, 0, 0, 1, 1, 2], np.int32),
        np.array([0, 1, 2, 0, 1, 0], np.int32),
    )
    assert seen_by(near) == [[0], [0, 1], [1, 2], [3], [3, 4], [5]]
    assert seen_by(far) == [[0], [0, 1], [0, 1, 2], [3], [3, 4], [5]]
