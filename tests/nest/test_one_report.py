"""What is wrong in one part of a card or checkpoint hides nothing that is wrong in another."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from linnet import nest
from linnet.cli.main import main
from linnet.source.errors import LinnetError
from tests.nest.small import BINDINGS, ONE, TWO, load, write_card

Capture = pytest.CaptureFixture[str]
THREE = {"l1.b": TWO["l1.b"]}
TOML = (
    'files = ["one.safetensors", "two.safetensors"]',
    'files = ["one.safetensors", "two.safetensors", "three.safetensors"]',
)


def messages(card: Path, weights: Path, capsys: Capture) -> list[str]:
    """What `nest.load` raises, which `nest check` says as well."""
    with pytest.raises(LinnetError) as caught:
        load(card, weights=weights)
    found = [d.message for d in caught.value.diagnostics]
    assert main(["nest", "check", str(card), "--weights", str(weights), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [d["message"] for d in document["diagnostics"]] == found
    return found


def shards(parent: Path) -> Path:
    """Three shards, a shape of the first of which is wrong."""
    folder = parent / "weights"
    folder.mkdir()
    save_file({**ONE, "t": np.zeros((4, 3), np.float32)}, folder / "one.safetensors")
    save_file({k: TWO[k] for k in ("l0.b", "l1.s")}, folder / "two.safetensors")
    save_file(THREE, folder / "three.safetensors")
    return folder


SHAPE = "a tensor has another shape than its parameter: `table` is [4, 2], `t` in "


def test_a_shape_a_truncated_shard_and_a_missing_one(tmp_path: Path, capsys: Capture) -> None:
    card, weights = write_card(tmp_path, TOML), shards(tmp_path)
    two = weights / "two.safetensors"
    two.write_bytes(two.read_bytes()[:-1])
    found = messages(card, weights, capsys)
    assert len(found) == 2
    assert found[0].startswith(f"{two}: tensor ") and "leave the file" in found[0]
    assert found[1].startswith(SHAPE)
    (weights / "three.safetensors").unlink()
    missing, *others = messages(card, weights, capsys)
    assert missing == "1 of the 3 files of the card small is missing: `three.safetensors`"
    assert others == found


def test_a_tensor_that_no_unread_file_can_have_is_missed(tmp_path: Path, capsys: Capture) -> None:
    card, weights = write_card(tmp_path, TOML), shards(tmp_path)
    save_file({"x": THREE["l1.b"]}, weights / "three.safetensors")
    found = messages(card, weights, capsys)
    assert found[0].startswith("the checkpoint lacks a tensor: `l1.b`")
    assert found[1].startswith(SHAPE) and len(found) == 2


def test_a_wrong_shape_in_the_truncated_file_itself(tmp_path: Path, capsys: Capture) -> None:
    card, weights = write_card(tmp_path, TOML), shards(tmp_path)
    one = weights / "one.safetensors"
    one.write_bytes(one.read_bytes()[:-1])  # `l0.s` is first in it, `t` last
    header = one.read_bytes()
    assert header.index(b'"l0.s"') < header.index(b'"t"')
    (found,) = messages(card, weights, capsys)
    assert found.startswith(f"{one}: tensor `t`")


def test_an_index_of_files_that_could_not_be_read(tmp_path: Path, capsys: Capture) -> None:
    card, weights = write_card(tmp_path), shards(tmp_path)
    table = {"t": "one", "l0.s": "one", "l0.b": "gone", "l1.s": "two", "l1.b": "two", "x": "gone"}
    text = json.dumps({"weight_map": {k: f"{v}.safetensors" for k, v in table.items()}})
    (weights / "model.safetensors.index.json").write_text(text)
    found = messages(card, weights, capsys)
    # Where `l0.b`, `l1.b` and `x` are, nobody can say yet.
    assert found[0].endswith("is missing: `gone.safetensors`")
    assert found[1].startswith(SHAPE) and len(found) == 2


# --- cards -------------------------------------------------------------------


def codes(folder: Path, capsys: Capture, *words: str) -> list[str]:
    assert main([*words, str(folder), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["summary"]["warnings"] == 0
    return sorted(d["code"] for d in document["diagnostics"])


WRONG = [
    ('license = "MIT"', 'licence = "MIT"'),
    ('entry = "forward"', 'entry = "forwards"'),
    ("S = 8", "Z = 8"),
]


def test_all_of_a_card_in_one_run(tmp_path: Path, capsys: Capture) -> None:
    card = write_card(tmp_path, *WRONG, ("seen + x", "seen + cast<f64>(x)"), bindings={"table": 3})
    wanted = ["E2103", "E5001", "E5002"]
    for words in (["check"], ["nest", "check"], ["explain"]):
        assert codes(card, capsys, *words) == wanted
    with pytest.raises(LinnetError) as caught:
        nest.load(card, "numpy")
    assert sorted(d.code for d in caught.value.diagnostics) == wanted


def test_what_is_wrong_between_the_parts_too(tmp_path: Path, capsys: Capture) -> None:
    card = write_card(tmp_path, WRONG[0], WRONG[2], bindings={**BINDINGS, "tabel": "t2"})
    # A key, a number for no generic, a binding of no parameter.
    assert codes(card, capsys, "nest", "check") == ["E5001", "E5001", "E5002"]
    assert codes(card, capsys, "check") == ["E5001", "E5001", "E5002"]


@pytest.mark.parametrize(
    ("edit", "extra"),
    [
        (("H = 2\n", 'H = "x"\n'), 1),
        (("[links]", "[links"), 1),
        (('repo = "a/small"', "repo = 3"), 1),
    ],
)
def test_a_table_that_is_wrong_hides_neither_source_nor_bindings(
    tmp_path: Path, capsys: Capture, edit: tuple[str, str], extra: int
) -> None:
    card = write_card(tmp_path, edit, ("seen + x", "seen + cast<f64>(x)"), bindings={"table": 3})
    for words in (["check"], ["nest", "check"]):
        assert codes(card, capsys, *words) == ["E2103"] + ["E5001"] * extra + ["E5002"]


def test_an_error_elsewhere_does_not_spare_a_card(tmp_path: Path, capsys: Capture) -> None:
    card = write_card(tmp_path, ("parameters = 16", "parameters = 17"))
    other = tmp_path / "other.linnet"
    other.write_text("module other\n\npub fn f(x: f32) -> f64 {\n    return x\n}\n")
    assert main(["check", str(other), str(card), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [d["code"] for d in document["diagnostics"]] == ["E2103", "E5001"]


def test_lints_wait_until_there_are_no_errors(tmp_path: Path, capsys: Capture) -> None:
    unused = ("    param table", "    param idle: Tensor[H; T]? = none\n    param table")
    card = write_card(tmp_path, unused, ("parameters = 16", "parameters = 17"))
    assert main(["check", str(card)]) == 1
    assert capsys.readouterr().err.endswith("\n1 error\n")
    (card / "nest.toml").write_text(
        (card / "nest.toml").read_text().replace("parameters = 17", "parameters = 16")
    )
    assert main(["check", str(card)]) == 0
    text = capsys.readouterr().err
    assert "`idle`" in text and text.startswith("warning[")
