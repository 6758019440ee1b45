"""Settings of a wrong kind: each is found, all in one report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linnet.generate.settings import Settings
from linnet.source.errors import LinnetError
from tests.generate.scripted import settings

WRONG: dict[str, list[Any]] = {
    "max_new": [0, -1, "5", 1.5, True, 1e18],
    "temperature": ["hot", -0.1, float("nan"), float("inf"), True, None, 10**400],
    "top_k": [0, -1, 2.0, "3", False],
    "top_p": [0, 1.1, -1, float("nan"), "0.9", True],
    "seed": [-1, 1.0, "a", True],
    "stop": ["", [""], ["a", 1], 3, [None], b"a"],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, vs in WRONG.items() for v in vs])
def test_a_wrong_value(name: str, value: Any) -> None:
    with pytest.raises(LinnetError) as caught:
        settings(**{name: value})
    (found,) = caught.value.diagnostics
    assert found.code == "E2102"
    assert found.message.startswith(f"`{name}` must be ")


@pytest.mark.parametrize(
    ("stop", "told"), [("", "an empty text"), (b"a", "a value of type `bytes`")]
)
def test_a_wrong_stop_is_told_as_it_was_given(stop: Any, told: str) -> None:
    with pytest.raises(LinnetError) as caught:
        settings(stop=stop)
    wanted = f"`stop` must be a text that is not empty, or a list of such, not {told}"
    assert caught.value.diagnostics[0].message == wanted


def test_all_that_are_wrong_are_one_report() -> None:
    with pytest.raises(LinnetError) as caught:
        settings(**{name: values[0] for name, values in WRONG.items()})
    assert len(caught.value.diagnostics) == len(WRONG)


def test_right_values() -> None:
    assert settings() == Settings()
    asked = settings(2**31 - 1, 1, 40, 1, 2**70, "a")
    assert asked == Settings(2**31 - 1, 1.0, 40, 1, 2**70, ("a",))
    assert settings(stop=[]).stop == settings(stop=None).stop == ()
    assert settings(stop=["a", "b"]).stop == settings(stop=iter("ab")).stop == ("a", "b")


def test_numbers_of_numpy_are_numbers() -> None:
    some: Any = {"max_new": np.int64(3), "top_k": np.uint8(4), "temperature": np.float32(0.5)}
    assert settings(**some) == Settings(max_new=3, top_k=4, temperature=0.5)
