"""`nest`, `explain` and `run` on the shipped card, as a user types them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from linnet.cli.main import main

ROOT = Path(__file__).parents[2]
SHARED = ROOT / ".." / "shared"
SEED = SHARED / "seed" / "gpt-oss-20b"
FIXTURE = SHARED / "fixtures" / "gpt-oss-tiny"
CARD = ROOT / "models" / "gpt-oss-20b"

Capture = pytest.CaptureFixture[str]


def said(capsys: Capture, *words: str, status: int = 0) -> str:
    """What a command line prints, its two outputs together."""
    assert main(list(words)) == status
    out, err = capsys.readouterr()
    return out + err


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """A copy of the card, to be spoilt."""
    return Path(shutil.copytree(CARD, tmp_path / CARD.name))


def spoil(card: Path, old: str, new: str, file: str = "nest.toml") -> None:
    path = card / file
    text = path.read_text("utf-8")
    assert text.count(old) >= 1, old
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_list_names_the_cards(capsys: Capture) -> None:
    assert said(capsys, "nest", "list") == (
        "gpt-oss-20b     20.9B  GPT-OSS 20B\ngpt-oss-tiny     2.1M  GPT-OSS tiny\n"
    )


def test_a_fault_of_a_run_underlines_the_access(capsys: Capture) -> None:
    text = said(capsys, "run", "gpt-oss-20b", "--tiny", "--tokens", "5,9999", status=1)
    lines = text.splitlines()
    assert lines[0] == "error[E2209]: index 9999 is out of range for axis 0 of 320 elements"
    source, underline = lines[3].partition("| ")[2], lines[4].partition("| ")[2]
    assert source[underline.index("^") : len(underline)] == "table[ids[*s], h]"


def test_show_counts_the_full_card(capsys: Capture) -> None:
    text = said(capsys, "nest", "show", "gpt-oss-20b")
    assert "20,914,757,184 weights" in text
    assert "parameters (459 bound, 12.8 GiB):" in text
    lines = text.splitlines()
    assert "  decode(token: Tensor[1, 1; i32], pos: i32) -> Tensor[1, 201088; bf16]" in lines
    parameters = lines[lines.index("parameters (459 bound, 12.8 GiB):") + 1 :]
    assert sum(line.endswith((" bf16", " u8")) for line in parameters) == 459
    assert lines[-1] == "state (48 tensors, 192.0 MiB)"


@pytest.mark.skipif(not SEED.exists(), reason="the shared seed card is not there")
def test_the_seed_card_is_as_the_own_one(capsys: Capture) -> None:
    assert said(capsys, "check", str(SEED)) == ""
    expected = "gpt-oss-20b: 459 parameters, 20,914,757,184 weights\n"
    assert said(capsys, "nest", "check", str(SEED)) == expected
    assert said(capsys, "nest", "check", "gpt-oss-20b") == expected


@pytest.mark.smoke
def test_all_that_is_shipped_checks(capsys: Capture) -> None:
    assert said(capsys, "check", str(ROOT / "models"), str(ROOT / "stdlib")) == ""


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ('root = "Model"', 'root = "Modle"', "E5001", "did you mean `Model`?"),
        ('entry = "forward"', 'entry = "forwards"', "E5001", "did you mean `forward`?"),
        ("Vocab = 201088", "Vocab = 201089", "E5001", "20914762944"),
        ("KvHeads = 8", "KvHeads = 7", "E5001", "Heads % KvHeads == 0"),
        ("HeadDim = 64", "HeadDimm = 64", "E5001", "HeadDim"),
        ('T = "bf16"', 'T = "i32"', "E5001", "`T` is Float"),
        ("S = 8", "Z = 8", "E5001", "no entry of `Model` has a generic `Z`"),
        ("[links]", "[lincs]", "E5001", "links"),
    ],
)
def test_a_card_that_does_not_fit_its_source(
    card: Path, capsys: Capture, old: str, new: str, code: str, words: str
) -> None:
    spoil(card, old, new)
    text = said(capsys, "check", str(card), status=1)
    assert f"error[{code}]" in text and words in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Vocab = 320", 'Vocab = "f32"', "`Vocab` is a dimension, an integer from 0"),
        ("KvHeads = 2", "KvHeads = 3", "`where Heads % KvHeads == 0` of `Model` does not hold"),
        ('T = "f32"', 'T = "i32"', "`T` is Float, one of f16, bf16, f32, f64, not `i32`"),
    ],
)
def test_a_tiny_variant_that_makes_no_model(
    card: Path, capsys: Capture, old: str, new: str, words: str
) -> None:
    spoil(card, old, new)
    text = said(capsys, "check", str(card), status=1)
    assert f"error[E5001]: {words}" in text
    assert text.count("error[") == 1
    number = (card / "nest.toml").read_text("utf-8").splitlines().index("[tiny]") + 1
    assert f"nest.toml:{number}:2" in text


def test_a_binding_that_is_gone(card: Path, capsys: Capture) -> None:
    path = card / "bindings.json"
    bindings = json.loads(path.read_text("utf-8"))
    del bindings["lm_head.weight"]
    path.write_text(json.dumps(bindings, indent=1), "utf-8")
    text = said(capsys, "check", str(card), status=1)
    assert "error[E5002]" in text and "`lm_head.weight`" in text


def test_a_mistake_in_the_source_comes_alone(card: Path, capsys: Capture) -> None:
    spoil(card, "sum", "summ", "src/experts.linnet")
    document = json.loads(said(capsys, "check", "--json", str(card), status=1))
    codes = {d["code"] for d in document["diagnostics"]}
    assert codes and all(code[:2] in ("E1", "E2", "E3") for code in codes)


def test_an_unknown_card_gets_a_way_out(capsys: Capture) -> None:
    text = said(capsys, "nest", "show", "gpt-oss-20", status=1)
    assert "did you mean `gpt-oss-20b`?" in text


@pytest.mark.skipif(not FIXTURE.exists(), reason="the shared fixture is not there")
def test_nest_check_holds_headers_against_the_card(tmp_path: Path, capsys: Capture) -> None:
    generics = json.loads((FIXTURE / "fixture.json").read_text("utf-8"))["generics"]
    words = [w for name, value in generics.items() for w in ("--set", f"{name}={value}")]
    words += ["--weights", str(FIXTURE)]
    text = said(capsys, "nest", "check", "gpt-oss-20b", *words)
    assert "parameters" in text and "fits" in text
    text = said(capsys, "nest", "check", "gpt-oss-20b", *words, "--set", "H=96", status=1)
    assert "error[E5002]" in text and "another shape" in text
    copy = Path(shutil.copytree(FIXTURE, tmp_path / "copy"))
    (copy / "model-00001-of-00002.safetensors").unlink()
    words[-1] = str(copy)
    text = said(capsys, "nest", "check", "gpt-oss-20b", *words, status=1)
    assert "error[E5003]" in text and "model-00001-of-00002.safetensors" in text


def test_explain_lists_every_op_with_its_count(capsys: Capture) -> None:
    text = said(capsys, "explain", "gpt-oss-20b", "--backend", "numpy", "--json")
    (entry,) = json.loads(text)["entries"]
    ops = {op["op"]: (op["count"], op["chosen"]) for op in entry["ops"]}
    assert entry["entry"] == "forward"
    # Four projections and a router in each of 24 layers, and the head.
    assert ops["std.nn.linear::linear"] == (24 * 5 + 1, "body")
    assert ops["std.nn.norm::rms_norm"] == (24 * 2 + 1, "body")
    assert ops["std.nn.attention::sink_attention"] == (24, "body")
    assert ops["std.nn.embedding::embedding"] == (1, "body")


def test_explain_in_words(capsys: Capture) -> None:
    text = said(capsys, "explain", "gpt-oss-20b", "--entry", "decode", "--backend", "numpy")
    assert "decode: " in text
    assert "std.nn.linear::linear  x121  body: the backend has no kernel for it" in text


def test_explain_a_bare_file_stays_symbolic(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "m.linnet"
    path.write_text(
        "module m\n\nuse std.nn.linear::{Linear}\n\n"
        "pub block M<I: Dim, O: Dim> {\n    sub p: Linear<I, O, f32>\n\n"
        "    pub entry forward<B: Dim>(x: Tensor[B, I; f32]) -> Tensor[B, O; f32] {\n"
        "        return p.forward(x)\n    }\n}\n",
        "utf-8",
    )
    text = said(capsys, "explain", str(path))
    assert "M.forward: 1 calls" in text or "M.forward: 1 call" in text
    assert "x1 in the model: p (S = [B], In = I, Out = O, T = f32)" in text
    assert "E2107" in said(capsys, "explain", str(path), "--entry", "nope", status=1)
    assert "In = 3" in said(capsys, "explain", str(path), "--set", "I=3")
    text = said(capsys, "explain", str(path), "--set", "I=3", "--set", "Inn=3", status=1)
    assert f"error[E2111]: no entry of {path} has a generic `Inn`" in text
    assert "known here: B, I, O" in text


def test_explain_with_a_backend_that_is_not_there(capsys: Capture) -> None:
    text = said(capsys, "explain", "gpt-oss-20b", "--backend", "abacus", status=1)
    assert "there is no backend `abacus`" in text


@pytest.mark.smoke
def test_run_the_tiny_card(capsys: Capture) -> None:
    text = said(capsys, "run", "gpt-oss-20b", "--tiny", "--tokens", "1,2,3")
    lines = text.splitlines()
    assert lines[0] == "forward: [1, 3, 320] float32"
    top = [line.split() for line in lines[1:6]]
    assert all(0 <= int(token) < 320 for token, _ in top)
    values = [float(value) for _, value in top]
    assert values == sorted(values, reverse=True)
    assert lines[6].endswith("s on numpy")
    # The weights are seeded: a second run says the same.
    again = said(capsys, "run", "gpt-oss-20b", "--tiny", "--tokens", "1,2,3").splitlines()
    assert again[:6] == lines[:6]


def test_run_another_entry(capsys: Capture) -> None:
    words = ["run", "gpt-oss-20b", "--tiny", "--set", "Batch=1", "--entry", "prefill"]
    text = said(capsys, *words, "--tokens", "1,2,3", "--input", "pos=0")
    assert text.startswith("prefill: [1, 320] float32\n")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--entry", "prefil"], "has no entry `prefil`"),
        (["--entry", "prefill"], "no value for the input `pos`"),
        (["--set", "Vocabb=3"], "did you mean `Vocab`?"),
        (["--set", "KvHeads=3"], "Heads % KvHeads == 0"),
        (["--set", "TopK=9"], "`where TopK <= Experts` of `Model` does not hold"),
        (["--tokens", "1,400"], "400"),
        (["--tokens", "9" * 30], "error[E2105]: `tokens` holds an integer that no dtype has"),
        (["--tokens", "1", "--input", "tokens=2"], "the input `tokens` is given twice"),
        (["--input", "tokens=1", "--input", "tokens=2"], "the input `tokens` is given twice"),
        (["--weights", "nowhere"], "does not exist"),
        (["--device", "cuda"], "no device `cuda`"),
    ],
)
def test_run_says_what_is_wrong(capsys: Capture, words: list[str], expected: str) -> None:
    text = said(capsys, "run", "gpt-oss-20b", "--tiny", *words, status=1)
    assert expected in text and text.startswith("error[E")
    assert "Traceback" not in text


@pytest.mark.parametrize(
    "words",
    [
        ["--set", "x"],
        ["--set", "H="],
        ["--set", "=3"],
        ["--tokens", "a"],
        ["--tokens", ""],
        ["--tokens", "1,,2"],
        ["--tokens", "9" * 5000],
        ["--input", "pos"],
        ["--input", "pos="],
        ["--numerics", "sloppy"],
        ["--entry", ""],
        ["--backend", ""],
        ["--device", ""],
        ["--weights", ""],
        ["--cast"],
    ],
)
def test_run_refuses_a_malformed_option(capsys: Capture, words: list[str]) -> None:
    assert main(["run", "gpt-oss-20b", "--tiny", *words]) == 2


@pytest.mark.skipif(not FIXTURE.exists(), reason="the shared fixture is not there")
def test_run_a_checkpoint(capsys: Capture) -> None:
    import numpy as np

    generics = json.loads((FIXTURE / "fixture.json").read_text("utf-8"))["generics"]
    words = [w for name, value in generics.items() for w in ("--set", f"{name}={value}")]
    words += ["--set", "T=f32", "--weights", str(FIXTURE), "--cast-dtype"]
    reference = np.load(FIXTURE / "reference.npz")
    tokens, logits = reference["tokens"], reference["logits"]
    row = ",".join(str(int(t)) for t in tokens.reshape(-1, tokens.shape[-1])[0])
    lines = said(capsys, "run", "gpt-oss-20b", *words, "--tokens", row).splitlines()
    assert lines[0] == f"forward: [1, {tokens.shape[-1]}, 320] float32"
    best = np.argsort(-logits[0, -1])[:5]
    assert [int(line.split()[0]) for line in lines[1:6]] == best.tolist()
    values = [float(line.split()[1]) for line in lines[1:6]]
    assert np.abs(values - logits[0, -1][best]).max() < 1e-4
