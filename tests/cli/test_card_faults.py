"""`linnet nest check` of cards with several faults: each is said, once, and in its own words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from linnet import nest
from linnet.cli.main import main
from linnet.nest.card_keys import TABLES
from linnet.source.errors import LinnetError
from tests.nest.small import BINDINGS, write_card, write_weights

Capture = pytest.CaptureFixture[str]
COUNT = ("parameters = 16", "parameters = 17")
WRONG_COUNT = "error[E5001]: `parameters` says 17, but the model has 16 weights\n"


def said(capsys: Capture, *words: str) -> str:
    assert main([*words]) == 1
    return capsys.readouterr().err


def test_a_wrong_title_and_count(tmp_path: Path, capsys: Capture) -> None:
    card = write_card(tmp_path, ('title = "Small"', "title = 3"), COUNT)
    for words in (["nest", "check"], ["nest", "show"], ["check"], ["explain"], ["run"]):
        text = said(capsys, *words, str(card))
        assert "error[E5001]: `title` in `[model]` must be a text that is not empty\n" in text
        assert WRONG_COUNT in text and text.endswith("\n2 errors\n")


def every_command(card: Path) -> list[list[str]]:
    words = (["nest", "check"], ["nest", "show"], ["check"], ["explain"], ["run"])
    inspect = [["inspect", form, str(card)] for form in ("--ir", "--parameters")]
    return [[*w, str(card)] for w in words] + inspect


@pytest.mark.parametrize("value", ["3", "[]", '"text"', "true"])
@pytest.mark.parametrize("table", TABLES)
def test_a_value_in_the_place_of_a_table(
    table: str, value: str, tmp_path: Path, capsys: Capture
) -> None:
    card = write_card(tmp_path)
    tables = (card / "nest.toml").read_text().split("\n\n")
    others = [text for text in tables if not text.startswith(f"[{table}]")]
    (card / "nest.toml").write_text("\n\n".join([f"{table} = {value}", *others]))
    wanted = f"error[E5001]: `{table}` must be a table: write `[{table}]` on a line of its own\n"
    for words in every_command(card):
        text = said(capsys, *words)
        assert wanted in text and text.endswith("\n1 error\n"), (words, text)


def moved(card: Path, edit: tuple[str, str] = ("", "")) -> Path:
    """The card with its source, edited, in a hidden folder, outside any package."""
    (card / ".hid").mkdir()
    (card / "linnet.toml").unlink()
    text = (card / "src/lib.linnet").read_text()
    (card / "src/lib.linnet").unlink()
    assert edit[0] in text
    (card / ".hid/lib.linnet").write_text(text.replace(*edit) if edit[0] else text)
    toml = (card / "nest.toml").read_text()
    (card / "nest.toml").write_text(toml.replace("src/lib.linnet", ".hid/lib.linnet"))
    return card


def test_a_source_in_a_hidden_folder(tmp_path: Path, capsys: Capture) -> None:
    """Such folders are passed over, but for what a card names."""
    card = moved(write_card(tmp_path))
    (card / "other.linnet").write_text("module other\n")
    for words in every_command(card)[:4]:
        assert main(words) == 0, words
        assert capsys.readouterr().err == ""


def test_an_error_in_a_hidden_folder_is_said_once(tmp_path: Path, capsys: Capture) -> None:
    card = moved(write_card(tmp_path), ("seen + x", "seen + cast<f64>(x)"))
    (card / "other.linnet").write_text("module other\n")
    for words in every_command(card):
        text = said(capsys, *words)
        assert "error[E2103]" in text and text.endswith("\n1 error\n"), (words, text)
    # Another error beside it hides none.
    (card / "other.linnet").write_text("module\n")
    text = said(capsys, "check", str(card))
    assert "error[E2103]" in text and text.endswith("\n2 errors\n")


def test_an_error_in_the_manifest_of_a_card_is_said_once(tmp_path: Path, capsys: Capture) -> None:
    card = write_card(tmp_path)
    (card / "linnet.toml").write_text('[package]\nname = "small"\nversion = "0.1.0"\n')
    text = said(capsys, "check", str(card))
    assert "`language` is missing" in text and text.endswith("\n1 error\n")


def test_wrong_bindings_and_count(tmp_path: Path, capsys: Capture) -> None:
    bindings = {**BINDINGS, "table": 3, "nowhere.at.all": "x"}
    del bindings["layers.0.scale"]
    card = write_card(tmp_path, COUNT, bindings=bindings)
    text = said(capsys, "nest", "check", str(card), "--weights", str(write_weights(tmp_path)))
    assert "error[E5002]: `table` must be bound to a tensor's name, not the number 3\n" in text
    assert "error[E5002]: a binding names no parameter: `nowhere.at.all`, bound to `x`\n" in text
    assert "error[E5002]: a parameter has no binding: `layers.0.scale`, declared" in text
    assert WRONG_COUNT in text and text.endswith("\n4 errors\n")


def test_bindings_that_are_a_list(tmp_path: Path, capsys: Capture) -> None:
    card = write_card(tmp_path, COUNT)
    (card / "bindings.json").write_text("[]\n")
    # Which of the optional `shift` there are is not known: 12 weights without, 16 with them.
    wrong = "`parameters` says 17, but the model has 12 weights, 16 with all that is optional\n"
    text = said(capsys, "nest", "check", str(card))
    expected = "the bindings must be an object, from parameter paths to names, not a list\n"
    assert expected in text and wrong in text and text.endswith("\n2 errors\n")


def test_misspelt_paths_are_one_finding(tmp_path: Path, capsys: Capture) -> None:
    many = {f"layers.{i}.scale": f"l{i}.s" for i in range(12)}
    typed = {k.replace("scale", "scael"): v for k, v in many.items()}
    edits = (("Layers = 2", "Layers = 12"), ("parameters = 16", "parameters = 32"))
    card = write_card(tmp_path, *edits, bindings={"tabel": "t", **typed})
    assert main(["nest", "check", str(card), "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert found["message"] == "13 bindings name no parameter"
    assert found["notes"] == [
        "`tabel`, bound to `t`; did you mean `table`?",
        *(
            f"`layers.{i}.scael`, bound to `l{i}.s`; did you mean `layers.{i}.scale`?"
            for i in range(12)
        ),
    ]


def test_a_misspelt_generic_is_one_finding(tmp_path: Path, capsys: Capture) -> None:
    tiny = ("[check]", "[tiny]\nVocab = 2\n\n[check]")
    card = write_card(tmp_path, ("Vocab = 4", "Vocabs = 4"), tiny)
    text = said(capsys, "nest", "check", str(card))
    assert "`Model` has no generic `Vocabs`" in text and "did you mean `Vocab`?" in text
    assert text.endswith("\n1 error\n")


def test_links_in_a_circle(tmp_path: Path, capsys: Capture) -> None:
    card, weights = write_card(tmp_path, COUNT), write_weights(tmp_path)
    (weights / "two.safetensors").unlink()
    (weights / "two.safetensors").symlink_to("three.safetensors")
    (weights / "three.safetensors").symlink_to("two.safetensors")
    text = said(capsys, "nest", "check", str(card), "--weights", str(weights))
    assert "the checkpoint file `two.safetensors` is part of a circle of links" in text
    assert "missing" not in text
    assert WRONG_COUNT in text and text.endswith("\n2 errors\n")
    (card / "bindings.json").unlink()
    (card / "bindings.json").symlink_to("bindings.json")
    text = said(capsys, "nest", "check", str(card))
    assert "bindings.json: too many levels of symbolic links" in text
    (card / "nest.toml").unlink()
    (card / "nest.toml").symlink_to("nest.toml")
    text = said(capsys, "nest", "check", str(card))
    assert f"the nest.toml of {card} is part of a circle of links" in text


@pytest.mark.parametrize(
    ("given", "code", "expected"),
    [
        ("Vocabs=3", "E2111", "generic `Vocabs`"),
        ("H=f32", "E2111", "`H` is a dimension, an integer from 0 to 2^63 - 1, not `f32`"),
        ("T=i32", "E2112", "`T` is Float, one of f16, bf16, f32, f64, not `i32`"),
        ("H=3", "E2206", "`where H % 2 == 0` of "),
    ],
)
def test_what_is_set_has_one_code(
    tmp_path: Path, capsys: Capture, given: str, code: str, expected: str
) -> None:
    card = write_card(tmp_path)
    targets = [str(card)] * 4 + [str(card / "src" / "lib.linnet")]
    roads = (["nest", "check"], ["nest", "show"], ["run"], ["explain"], ["explain"])
    for words, target in zip(roads, targets, strict=True):
        text = said(capsys, *words, target, "--set", given)
        assert f"error[{code}]: " in text and expected in text, words
        assert text.endswith("\n1 error\n"), text


def test_all_is_said_before_a_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linnet.nest.loading.default_files", pytest.fail)
    card = write_card(tmp_path, COUNT, bindings={**BINDINGS, "table": 3})
    with pytest.raises(LinnetError) as caught:
        nest.load(card, "numpy")
    assert [d.code for d in caught.value.diagnostics] == ["E5002", "E5001"]


def test_a_broken_index_and_toml_do_not_hide_a_header(tmp_path: Path, capsys: Capture) -> None:
    card, weights = write_card(tmp_path, ("[links]", "[links")), write_weights(tmp_path)
    (weights / "two.safetensors").write_bytes(b"abc")
    (weights / "model.safetensors.index.json").write_text("{")
    assert main(["nest", "check", str(card), "--weights", str(weights), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    assert [d["code"] for d in found] == ["E5001", "E5003", "E5003"]
    assert "two.safetensors: 3 bytes are too few" in found[2]["message"]
