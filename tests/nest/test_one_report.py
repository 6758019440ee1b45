"""What is wrong in one part of a card or checkpoint hides nothing that is wrong in another."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from linnet import nest
from linnet.cli.main import main
from linnet.source.errors import LinnetError
from tests.nest.faults import FAULTS, Fault, Finding, build
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


@pytest.mark.parametrize("where", ["gap", "end"])
def test_bytes_of_no_tensor_hide_neither_shape_nor_dtype(
    tmp_path: Path, capsys: Capture, where: str
) -> None:
    card, weights = write_card(tmp_path), tmp_path / "weights"
    weights.mkdir()
    gap = 4 if where == "gap" else 0
    header = {
        "t": {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]},
        "l0.s": {"dtype": "I32", "shape": [2], "data_offsets": [48 + gap, 56 + gap]},
    }
    text = json.dumps(header).encode()
    one = weights / "one.safetensors"
    one.write_bytes(len(text).to_bytes(8, "little") + text + bytes(60))
    save_file(TWO, weights / "two.safetensors")
    lost, dtype, shape = messages(card, weights, capsys)
    assert lost.startswith(f"{one}: ") and "4 bytes " in lost and "belong to no tensor" in lost
    assert dtype.startswith("a tensor has another dtype") and "`l0.s`" in dtype
    assert shape.startswith(SHAPE)


def test_an_overlap_hides_only_the_tensors_in_it(tmp_path: Path, capsys: Capture) -> None:
    card, weights = write_card(tmp_path), tmp_path / "weights"
    weights.mkdir()
    save_file(ONE, weights / "one.safetensors")
    header = {
        "l0.b": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]},
        "l1.s": {"dtype": "F32", "shape": [2], "data_offsets": [8, 16]},
        "l1.b": {"dtype": "I32", "shape": [2], "data_offsets": [16, 24]},
    }
    text = json.dumps(header).encode()
    two = weights / "two.safetensors"
    two.write_bytes(len(text).to_bytes(8, "little") + text + bytes(24))
    overlap, dtype = messages(card, weights, capsys)
    assert overlap == f"{two}: tensor `l1.s`: its bytes [8, 16] overlap [0, 12] of `l0.b`"
    assert dtype.startswith("a tensor has another dtype") and "`l1.b`" in dtype


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


# --- pairs of faults ----------------------------------------------------------


def items(document: Any) -> list[tuple[str, str, set[tuple[str, int]]]]:
    """What is reported, code, text and places; a finding that lists several is several."""
    found: list[tuple[str, str, set[tuple[str, int]]]] = []
    for d in document["diagnostics"]:
        spots = [d, *d["related"]] if d["file"] is not None else []
        places = {(s["file"], s["start"]["line"]) for s in spots}
        listed = re.match(
            r"(.*: )?(the \w+ lacks )?\d+ (bindings|parameters|tensors)\b", d["message"]
        )
        texts = d["notes"] if listed else [d["message"]]
        found += [(d["code"], text, places) for text in texts]
    return found


def expected(faults: tuple[Fault, ...]) -> list[Finding]:
    hidden = {need for fault in faults for need in fault.hides}
    return [f for fault in faults for f in fault.finds if not f.needs & hidden]


def differences(parent: Path, faults: tuple[Fault, ...], capsys: Capture) -> list[str]:
    """What is expected and not reported, and what is reported and not expected."""
    card, weights = build(parent, faults)
    assert main(["nest", "check", str(card), "--weights", str(weights), "--json"]) == 1
    left = items(json.loads(capsys.readouterr().out))
    wrong: list[str] = []
    for finding in expected(faults):
        fits = [i for i in left if i[0] == finding.code and finding.text in i[1]]
        if len(fits) != 1:
            wrong.append(f"{len(fits)} of {finding.code} {finding.text}")
            continue
        left.remove(fits[0])
        if finding.file is not None and not is_at(card, finding, fits[0][2]):
            wrong.append(f"{finding.text} is not at {finding.line}")
    return wrong + [f"not expected: {code} {text}" for code, text, _ in left]


def is_at(card: Path, finding: Finding, places: set[tuple[str, int]]) -> bool:
    path = card / str(finding.file)
    lines = path.read_text().splitlines()
    return any(f == str(path) and finding.line in lines[n - 1] for f, n in places)


def compatible(one: Fault, two: Fault) -> bool:
    """Whether both can be made in one card: not the same text, and not the same tensor."""
    texts = [{(file, old) for file, old, _ in fault.edits} for fault in (one, two)]
    same_text = any(a == b and (x in y or y in x) for a, x in texts[0] for b, y in texts[1])
    return not same_text and not (one.touches and one.touches == two.touches)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_a_fault_alone_and_with_each_other(fault: Fault, tmp_path: Path, capsys: Capture) -> None:
    wrong = differences(tmp_path / "alone", (fault,), capsys)
    assert wrong == []
    others = [f for f in FAULTS[FAULTS.index(fault) + 1 :] if compatible(fault, f)]
    for number, other in enumerate(others):
        found = differences(tmp_path / str(number), (fault, other), capsys)
        wrong += [f"{fault.name} and {other.name}: {text}" for text in found]
    assert wrong == []
