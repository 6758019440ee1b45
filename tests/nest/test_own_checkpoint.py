"""A card that ships its checkpoint, and one whose source is in the package of another."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linnet import nest
from linnet.cli.main import main
from linnet.nest import hub
from linnet.nest.card import Card, load_card
from linnet.nest.hub import default_files
from linnet.nest.locate import Files
from linnet.nest.text_files import Origin, TextFiles
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.errors import LinnetError
from tests.nest.small import write_card, write_weights

Capture = pytest.CaptureFixture[str]

LINKS = '[links]\nhuggingface = "https://huggingface.co/a/small"\n\n'
REPO = 'repo = "a/small"\n'
REVISION = 'revision = "0123456789abcdef0123456789abcdef01234567"\n'
OWN = ((LINKS, ""), (REPO, ""), (REVISION, ""))
FILES = ("one.safetensors", "two.safetensors")


def loaded(folder: Path) -> Card:
    sink = Sink()
    card = load_card(folder, sink)
    assert card is not None, [d.message for d in sink]
    return card


def findings(folder: Path) -> list[Diagnostic]:
    sink = Sink()
    assert load_card(folder, sink) is None
    return list(sink)


# --- the checkpoint -----------------------------------------------------------


def test_a_card_need_not_be_published(make_card: Callable[..., Path]) -> None:
    card = loaded(make_card(*OWN))
    assert (card.links, card.weights.repo, card.weights.revision) == ({}, "", "")


@pytest.mark.parametrize(
    ("gone", "missing"),
    [
        (
            (REPO, REVISION),
            ["`[weights]` lacks the key `repo`", "`[weights]` lacks the key `revisi"],
        ),
        (
            (LINKS, REVISION),
            ["the table `[links]` is missing", "`[weights]` lacks the key `revisi"],
        ),
        ((LINKS, REPO), ["the table `[links]` is missing", "`[weights]` lacks the key `repo`"]),
    ],
)
def test_what_is_published_is_said_whole(
    make_card: Callable[..., Path], gone: tuple[str, ...], missing: list[str]
) -> None:
    found = findings(make_card(*((text, "") for text in gone)))
    assert [d.code for d in found] == ["E5001"] * 2
    for finding, message in zip(found, missing, strict=True):
        assert finding.message.startswith(message)


def test_a_misspelt_repo_is_one_finding(make_card: Callable[..., Path]) -> None:
    (found,) = findings(make_card((REPO, REPO.replace("repo", "rpeo"))))
    assert (found.message, found.help) == (
        "unknown key `rpeo` in `[weights]`",
        "did you mean `repo`?",
    )


@pytest.mark.parametrize("edits", [(), OWN], ids=["published", "own"])
def test_files_beside_the_card_come_first(
    make_card: Callable[..., Path],
    edits: tuple[tuple[str, str], ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = make_card(*edits)
    monkeypatch.setattr(hub, "snapshot_folder", pytest.fail)
    monkeypatch.setattr(hub, "_has_network", pytest.fail)
    for name in FILES:
        (folder / name).touch()
    # The card's list counts, an index of something else does not.
    (folder / "model.safetensors.index.json").write_text("{")
    sink = Sink()
    found = default_files(loaded(folder), sink)
    assert not list(sink)
    assert found == Files(tuple(folder / name for name in FILES))


def test_some_files_beside_a_published_card_are_not_its_checkpoint(
    make_card: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    folder = make_card()
    (folder / FILES[0]).touch()
    sink = Sink()
    assert default_files(loaded(folder), sink, offline=True) is None
    assert [d.message for d in sink] == [
        "the checkpoint of small is not in the cache, and the network is not to be used"
    ]


@pytest.mark.parametrize("there", [(), FILES[:1]])
def test_a_checkpoint_that_was_left_out(
    make_card: Callable[..., Path], there: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_card(*OWN)
    for name in there:
        (folder / name).touch()
    monkeypatch.setattr(hub, "snapshot_folder", pytest.fail)
    sink = Sink()
    assert default_files(loaded(folder), sink) is None
    (found,) = sink
    assert (found.code, found.message) == (
        "E5003",
        "the checkpoint of small is not in the card's folder",
    )
    lacking = ", ".join(name for name in FILES if name not in there)
    assert found.notes == (f"{folder} lacks {lacking}",)
    assert found.span is not None
    assert found.span.text == '["one.safetensors", "two.safetensors"]'
    assert found.help is not None and "give its folder as `weights`" in found.help


def test_nothing_is_downloaded_for_it(
    make_card: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    card = loaded(make_card(*OWN))
    monkeypatch.setattr("linnet.nest.text_files.download_beside", pytest.fail)
    files = TextFiles(card, Origin(None, None))
    assert files.tokenizer() is None and files.fetch() is None
    (note,) = files.missing(None).diagnostics[0].notes
    assert note == f"looked for tokenizer.json in {card.directory}"
    (card.directory / "tokenizer.json").write_text("{}")
    assert files.tokenizer() is not None


def own_card(parent: Path) -> Path:
    """A card with its checkpoint in its folder."""
    card = write_card(parent, *OWN)
    for file in write_weights(parent).iterdir():
        shutil.move(file, card / file.name)
    return card


def test_it_runs_from_its_own_folder(tmp_path: Path) -> None:
    card = own_card(tmp_path)
    found = nest.load(card, "numpy")
    given = nest.load(card, "numpy", weights=card)
    tokens = np.array([1, 2, 3], np.int32)
    np.testing.assert_array_equal(found(tokens), given(tokens))
    (card / "two.safetensors").unlink()
    with pytest.raises(LinnetError, match="is not in the card's folder"):
        nest.load(card, "numpy")


def test_commands_on_a_card_with_its_checkpoint(tmp_path: Path, capsys: Capture) -> None:
    card = own_card(tmp_path)
    assert main(["nest", "check", str(card)]) == 0
    fits = "small: 5 parameters, 16 weights and fits the checkpoint in the card's folder\n"
    assert capsys.readouterr().out == fits
    assert main(["nest", "show", str(card)]) == 0
    assert "\ncheckpoint in the card's folder\n" in capsys.readouterr().out
    assert main(["nest", "show", str(card), "--json"]) == 0
    where = json.loads(capsys.readouterr().out)["checkpoint"]
    assert where == {"repo": None, "revision": None, "files": [*FILES]}
    (card / "two.safetensors").write_bytes(b"abc")
    assert main(["nest", "check", str(card)]) == 1
    assert "3 bytes are too few" in capsys.readouterr().err


# --- the source ---------------------------------------------------------------


@pytest.fixture
def sharing(tmp_path: Path) -> Path:
    """A card without a source of its own, beside the card whose source it has."""
    write_card(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    for name in ("nest.toml", "bindings.json"):
        shutil.copy(tmp_path / "small" / name, other)
    toml = other / "nest.toml"
    text = toml.read_text().replace('name = "small"', 'name = "other"')
    text = text.replace("[source]\n", '[source]\npackage = "../small"\n')
    toml.write_text(text.replace("Layers = 2\n", "Layers = 1\n").replace("= 16", "= 12"))
    bindings = json.loads((other / "bindings.json").read_text())
    kept = {k: v for k, v in bindings.items() if not k.startswith("layers.1.")}
    (other / "bindings.json").write_text(json.dumps(kept))
    return other


def test_the_source_of_another_package(sharing: Path, capsys: Capture) -> None:
    assert loaded(sharing).source == sharing.parent / "small" / "src" / "lib.linnet"
    for words in (["check"], ["lint"], ["nest", "show"], ["explain"]):
        assert main([*words, str(sharing)]) == 0, words
        assert not capsys.readouterr().err
    assert main(["check", str(sharing / "nest.toml"), str(sharing.parent)]) == 0
    assert main(["nest", "check", str(sharing)]) == 0
    assert capsys.readouterr().out == "other: 3 parameters, 12 weights\n"
    model = nest.load(sharing, "numpy", weights="random")
    assert model(np.array([1, 2], np.int32)).shape == (2, 2)


def test_a_mistake_in_the_shared_source_is_found_from_both(sharing: Path, capsys: Capture) -> None:
    source = sharing.parent / "small" / "src" / "lib.linnet"
    source.write_text(source.read_text().replace("seen + x", "seen + cast<f64>(x)"))
    for words in (["check"], ["nest", "check"]):
        assert main([*words, str(sharing)]) == 1
        text = capsys.readouterr().err
        assert f"--> {source}" in text and text.endswith("\n1 error\n"), text


@pytest.mark.parametrize(
    ("old", "new", "message", "text"),
    [
        (
            '"../small"',
            '"../smal"',
            "no package at `../smal`: there is no linnet.toml",
            '"../smal"',
        ),
        ('"../small"', '"."', "no package at `.`: there is no linnet.toml", '"."'),
        ('"../small"', "3", "`package` in `[source]` must be the path of a folder", "3"),
        (
            "src/lib.linnet",
            "src/lob.linnet",
            "the source file `src/lob.linnet` is not in the package `../small`",
            '"src/lob.linnet"',
        ),
        (
            "src/lib.linnet",
            "../src/lib.linnet",
            "`path` in `[source]` must be the path of a .linnet file inside",
            '"../src/lib.linnet"',
        ),
    ],
)
def test_a_package_that_is_none(
    sharing: Path, capsys: Capture, old: str, new: str, message: str, text: str
) -> None:
    toml = sharing / "nest.toml"
    assert toml.read_text().count(old) == 1
    toml.write_text(toml.read_text().replace(old, new))
    found = findings(sharing)
    assert [d.code for d in found] == ["E5001"]
    assert found[0].message.startswith(message)
    assert found[0].span is not None and found[0].span.text == text
    assert main(["nest", "check", str(sharing)]) == 1
    assert capsys.readouterr().err.endswith("\n1 error\n")
