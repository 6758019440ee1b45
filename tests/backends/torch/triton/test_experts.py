"""Products with MXFP4 experts against the bodies of their ops."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.backends.torch.triton.harness import SMALLEST, UNIT, Array, Call, call, near, wide
from tests.stdlib import reference
from tests.stdlib.conftest import NUMPY_DTYPES

FEW = {
    "mxfp4_experts": "mxfp4_experts",
    "mxfp4_experts_shared": "mxfp4_experts_shared",
    "mxfp4_linear_experts_shared": "mxfp4_linear_experts_shared_few_rows",
    "mxfp4_combine_experts": "mxfp4_combine_experts_few_rows",
}
MANY = {
    "mxfp4_experts": "mxfp4_experts_grouped",
    "mxfp4_experts_shared": "mxfp4_experts_shared_grouped",
    "mxfp4_linear_experts_shared": "mxfp4_linear_experts_shared",
    "mxfp4_combine_experts": "mxfp4_combine_experts",
}
COMBINE = "mxfp4_combine_experts"
# Each op with the kernel for few rows and with that for many.
KERNELS = [(op, name) for table in (FEW, MANY) for op, name in table.items()]
ONE_OF_EACH = [("mxfp4_experts", FEW["mxfp4_experts"]), (COMBINE, MANY[COMBINE])]

# R rows, K experts each, E experts, Out, G blocks of 32.
Size = tuple[int, int, int, int, int]


@dataclass
class Experts:
    """Random experts and inputs; what a test changes, it changes before `call`."""

    size: Size
    dtype: str
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(3))

    def __post_init__(self) -> None:
        rows, chosen, experts, out, groups = self.size
        self.blocks = self.rng.integers(0, 256, (experts, out, groups, 16), dtype=np.uint8)
        self.scales = self.rng.integers(120, 131, (experts, out, groups), dtype=np.uint8)
        self.experts = self.rng.integers(0, max(experts, 1), (rows, chosen)).astype(np.int64)
        self.x = self.rounded(self.rng.standard_normal((rows, chosen, groups * 32)))
        self.weights = self.rounded(self.rng.standard_normal((rows, chosen)))

    def rounded(self, x: NDArray[np.float64]) -> Array:
        return x.astype(NUMPY_DTYPES[self.dtype])

    def inputs(self, op: str) -> Array:
        """`x` as the op takes it."""
        if op == "mxfp4_linear_experts_shared":
            return self.x[:, 0]
        return self.x[:, :1] if op == "mxfp4_experts_shared" else self.x

    def call(self, op: str) -> Call:
        more: dict[str, Array] = {"weights": self.weights} if op == COMBINE else {}
        return call(
            f"std.quant::{op}",
            self.dtype,
            x=self.inputs(op),
            blocks=self.blocks,
            scales=self.scales,
            experts=self.experts,
            **more,
        )

    def bound(self, op: str, want: Array) -> NDArray[np.float64]:
        """How far two sums in f32 may be apart, each in an order of its own and then rounded.

        The sum of n products is off by n roundings of the sum of magnitudes, at most.
        """
        matrices = np.abs(reference.dequantize_mxfp4(self.blocks, self.scales))
        inputs = np.abs(wide(self.x[:, :1] if "shared" in op else self.x))
        magnitudes = reference.expert_products(inputs, matrices, self.experts)
        unit, n = UNIT[self.dtype], inputs.shape[-1]
        apart = 2 * n * 2.0**-24 * magnitudes + SMALLEST[self.dtype]
        if op == COMBINE:
            # Products rounded to T, which differ by one rounding more, times their weights.
            apart = apart + 2 * unit * magnitudes
            factors = np.abs(wide(self.weights))[..., None]
            apart = (apart * factors).sum(1)
            apart += 2 * self.size[1] * 2.0**-24 * (magnitudes * factors).sum(1)
            apart += SMALLEST[self.dtype]
        return 2 * unit * np.abs(wide(want)) + apart


def check(it: Experts, op: str, kernel: str) -> None:
    made = it.call(op)
    want = made.body()
    near(made.kernel(kernel), want, it.bound(op, want))


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize("size", [(1, 1, 1, 1, 1), (3, 2, 5, 7, 2), (1, 4, 8, 19, 3)])
@pytest.mark.parametrize(("op", "kernel"), KERNELS)
def test_odd_sizes(op: str, kernel: str, size: Size, dtype: str) -> None:
    check(Experts(size, dtype), op, kernel)


@pytest.mark.parametrize(("op", "kernel"), FEW.items())
def test_f32_for_few_rows(op: str, kernel: str) -> None:
    check(Experts((2, 3, 4, 5, 2), "f32"), op, kernel)


@pytest.mark.parametrize("dtype", ["bf16", "f32"])
def test_a_reduction_in_splits(dtype: str) -> None:
    from linnet.backends.torch.kernels.triton import plans

    size = (1, 2, 3, 3, 70)
    assert plans.few_rows(2, 3, 70).splits == 3
    check(Experts(size, dtype), "mxfp4_experts", FEW["mxfp4_experts"])


@pytest.mark.parametrize(("op", "kernel"), MANY.items())
def test_every_expert_chosen(op: str, kernel: str) -> None:
    it = Experts((12, 3, 6, 5, 1), "bf16")
    it.experts = it.rng.permutation(np.arange(36) % 6).reshape(12, 3)
    check(it, op, kernel)


@pytest.mark.parametrize(("op", "kernel"), MANY.items())
def test_one_expert_chosen_by_all(op: str, kernel: str) -> None:
    """Three tiles of pairs, the last not full, and experts without any."""
    it = Experts((19, 2, 4, 5, 1), "bf16")
    it.experts[:] = 2
    check(it, op, kernel)


def test_more_outputs_and_blocks_than_a_tile_has() -> None:
    check(Experts((2, 1, 2, 131, 5), "bf16"), COMBINE, MANY[COMBINE])


@pytest.mark.parametrize(
    "size", [(0, 2, 3, 4, 1), (3, 0, 2, 4, 1), (2, 1, 3, 0, 1), (2, 1, 3, 4, 0)]
)
@pytest.mark.parametrize(("op", "kernel"), KERNELS)
def test_empty(op: str, kernel: str, size: Size) -> None:
    if size[1] == 0 and "shared" in op:
        size = (size[0], 1, *size[2:])
    made = Experts(size, "bf16").call(op)
    want = made.body()
    got = made.kernel(kernel)
    assert (got.shape, got.dtype, got.tobytes()) == (want.shape, want.dtype, want.tobytes())


ENDS = {"bf16": [0, 1, 2, 239, 241, 252, 253, 254], "f16": [96, 101, 103, 104, 140, 141, 142, 143]}


@pytest.mark.parametrize(("dtype", "scale"), [(d, s) for d, found in ENDS.items() for s in found])
@pytest.mark.parametrize(("op", "kernel"), ONE_OF_EACH)
def test_scales_at_both_ends(op: str, kernel: str, dtype: str, scale: int) -> None:
    """One input that is not zero, so that nothing is left of the order of a sum: the same bits as
    the body, infinite weights and zero times them included."""
    it = Experts((1, 1, 2, 16, 1), dtype)
    it.blocks[:] = np.arange(16, dtype=np.uint8)[:, None, None] * 17
    it.scales[:] = scale
    it.x[:] = 0
    it.x[..., 5] = 2.0 if scale < 127 else 0.25
    it.weights[:] = 1
    made = it.call(op)
    with np.errstate(over="ignore", invalid="ignore"):
        want = made.body()
    assert np.isnan(wide(want)).any() == (scale > (252 if dtype == "bf16" else 140))
    np.testing.assert_array_equal(wide(made.kernel(kernel)), wide(want))


@pytest.mark.parametrize(("op", "kernel"), KERNELS)
def test_an_expert_that_is_not_chosen_has_no_part(op: str, kernel: str) -> None:
    it = Experts((3, 2, 4, 5, 1), "bf16")
    it.experts %= 3
    made = it.call(op)
    want = made.kernel(kernel)
    it.scales[3] = 254
    np.testing.assert_array_equal(wide(it.call(op).kernel(kernel)), wide(want))


@pytest.mark.parametrize("bad", [-1, 4, 2**40])
@pytest.mark.parametrize(("op", "kernel"), KERNELS)
def test_an_expert_that_does_not_exist_is_some_expert(op: str, kernel: str, bad: int) -> None:
    """The nearest that there is; nothing outside the tensors is read."""
    it = Experts((2, 2, 4, 3, 1), "bf16")
    it.experts[1, 1] = np.clip(bad, 0, 3)
    want = it.call(op).kernel(kernel)
    it.experts[1, 1] = bad
    np.testing.assert_array_equal(wide(it.call(op).kernel(kernel)), wide(want))
