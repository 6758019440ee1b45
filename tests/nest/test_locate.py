"""Finding a checkpoint's files, and refusing names and links that leave the folder."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from linnet.nest.card import Card, load_card
from linnet.nest.locate import INDEX, find_files
from linnet.source.diagnostics import Diagnostic, Sink


@pytest.fixture
def card(make_card: Callable[..., Path]) -> Card:
    card = load_card(make_card(), Sink())
    assert card is not None
    return card


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "weights"
    folder.mkdir()
    return folder


def index(folder: Path, *names: object) -> None:
    table = {f"t{i}": name for i, name in enumerate(names)}
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": table}))


def good(weights: Path, card: Card | None = None) -> list[str]:
    sink = Sink()
    files = find_files(weights, card, sink)
    assert not list(sink)
    assert files is not None
    return [f.name for f in files.paths]


def bad(weights: Path, card: Card | None = None) -> list[Diagnostic]:
    sink = Sink()
    files = find_files(weights, card, sink)
    assert files is None or not files.whole
    assert all(d.code == "E5003" for d in sink)
    return list(sink)


def test_one_file(folder: Path) -> None:
    (folder / "x.safetensors").touch()
    assert good(folder / "x.safetensors") == ["x.safetensors"]


def test_the_cards_files_in_their_order(folder: Path, card: Card) -> None:
    for name in ("two", "one", "three"):
        (folder / f"{name}.safetensors").touch()
    assert good(folder, card) == ["one.safetensors", "two.safetensors"]


def test_a_missing_file_of_the_card(folder: Path, card: Card) -> None:
    (folder / "one.safetensors").touch()
    (found,) = bad(folder, card)
    assert found.message == "1 of the 2 files of the card small is missing: `two.safetensors`"
    assert found.notes == (f"looked in {folder}",)
    assert found.help is not None
    assert "download may be incomplete" in found.help


def test_a_folder_with_an_index(folder: Path, card: Card) -> None:
    index(folder, "b.safetensors", "a.safetensors", "b.safetensors")
    (folder / "a.safetensors").touch()
    (folder / "b.safetensors").touch()
    assert good(folder) == ["a.safetensors", "b.safetensors"]
    assert good(folder, card) == ["a.safetensors", "b.safetensors"]
    assert good(folder / INDEX) == ["a.safetensors", "b.safetensors"]


def test_a_shard_of_the_index_that_is_absent(folder: Path) -> None:
    index(folder, "a.safetensors", "b.safetensors")
    (folder / "a.safetensors").touch()
    (found,) = bad(folder)
    assert found.message == f"1 of the 2 files of {INDEX} is missing: `b.safetensors`"


def test_a_single_file_of_the_usual_name(folder: Path) -> None:
    (folder / "model.safetensors").touch()
    assert good(folder) == ["model.safetensors"]


@pytest.mark.parametrize(
    "name",
    ["../x.safetensors", "/etc/hosts", "a/../../x", "C:\\x", "", ".", "a/..", "a//b", "\0", "C:x"],
)
def test_names_that_may_leave_the_folder(folder: Path, name: str) -> None:
    (folder.parent / "x.safetensors").touch()
    index(folder, name)
    (found,) = bad(folder)
    assert str(folder) in found.message
    assert "is no name of a file inside the folder; it was not opened" in found.message


def test_all_bad_names_in_one_report(folder: Path) -> None:
    index(folder, "../x", "absent.safetensors", "/y")
    assert [d.message.split("`")[1] for d in bad(folder)] == ["../x", "/y", "absent.safetensors"]


@pytest.mark.parametrize("value", [1, None, ["a"]])
def test_names_that_are_no_texts(folder: Path, value: object) -> None:
    index(folder, value)
    (found,) = bad(folder)
    assert "tensor `t0` must have a file's name" in found.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the index is no JSON"),
        ("[" * 100_000, "the index is nested too deeply"),
        ('{"weight_map": {"t": "a", "t": "b"}}', "the index has the key `t` twice"),
        (
            '{"weight_map": {}, "weight_map": {"t": "a"}}',
            "the index has the key `weight_map` twice",
        ),
        ('{"metadata": {"total_size": NaN}}', "the index is no JSON: NaN is no number of it"),
        ('{"metadata": ' + "1" * 5000 + "}", "the index has a number of 5000 digits"),
        ("[]", "the index must be an object, not a list"),
        ("{}", "has no `weight_map`"),
        ('{"weight_map": []}', "has no `weight_map`"),
        ('{"weight_map": {}}', "has no `weight_map`"),
    ],
)
def test_an_index_that_is_none(folder: Path, text: str, message: str) -> None:
    (folder / INDEX).write_text(text)
    (found,) = bad(folder)
    assert message in found.message
    assert str(folder / INDEX) in found.message


def test_links_that_leave_the_folder(folder: Path, card: Card) -> None:
    outside = folder.parent / "outside.safetensors"
    outside.touch()
    (folder / "one.safetensors").symlink_to(outside)
    (folder / "two.safetensors").touch()
    (found,) = bad(folder, card)
    assert "`one.safetensors` is a link that leaves the folder; it was not opened" in found.message
    index(folder, "one.safetensors")
    (found,) = bad(folder)
    assert "`one.safetensors` is a link that leaves the folder" in found.message
    (folder / INDEX).unlink()
    (folder.parent / INDEX).write_text("{}")
    (folder / INDEX).symlink_to(folder.parent / INDEX)
    (found,) = bad(folder)
    assert f"`{INDEX}` is a link that leaves the folder" in found.message


def test_a_folder_link_that_leaves_the_folder(folder: Path) -> None:
    (folder.parent / "x.safetensors").touch()
    (folder / "sub").symlink_to(folder.parent)
    index(folder, "sub/x.safetensors")
    (found,) = bad(folder)
    assert "is a link that leaves the folder" in found.message


def test_links_in_a_circle(folder: Path) -> None:
    (folder / INDEX).symlink_to(INDEX)
    (found,) = bad(folder)
    assert "cannot be read: too many levels of symbolic links" in found.message
    (folder / INDEX).unlink()
    index(folder, "a.safetensors")
    (folder / "a.safetensors").symlink_to("a.safetensors")
    (found,) = bad(folder)
    circle = "is part of a circle of links, so that no file is ever reached"
    assert found.message == f"{folder}: the checkpoint file `a.safetensors` {circle}"
    (folder / "loop").symlink_to("loop")
    (found,) = bad(folder / "loop")
    assert found.message == f"there are no weights at {folder / 'loop'}: it {circle}"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_an_index_that_is_no_file_is_not_opened(folder: Path, make: Callable[..., None]) -> None:
    make(folder / INDEX)
    (found,) = bad(folder)
    assert found.message.startswith(f"{folder / INDEX}: cannot be read: is ")


def test_a_file_name_that_is_too_long(folder: Path) -> None:
    index(folder, "x" * 5000)
    (found,) = bad(folder)
    assert f"1 of the 1 file of {INDEX} is missing: `xxx" in found.message


def test_an_index_may_begin_with_a_byte_order_mark(folder: Path) -> None:
    index(folder, "a.safetensors")
    (folder / INDEX).write_bytes(b"\xef\xbb\xbf" + (folder / INDEX).read_bytes())
    (folder / "a.safetensors").touch()
    assert good(folder) == ["a.safetensors"]


def test_links_inside_the_folder(folder: Path) -> None:
    (folder / "real.safetensors").touch()
    (folder / "a.safetensors").symlink_to("real.safetensors")
    index(folder, "a.safetensors")
    assert good(folder) == ["a.safetensors"]


def test_a_link_to_nothing_is_a_missing_file(folder: Path) -> None:
    (folder / "a.safetensors").symlink_to("b.safetensors")
    index(folder, "a.safetensors")
    (found,) = bad(folder)
    assert "1 of the 1 file of" in found.message
    (folder / INDEX).unlink()
    (folder / "a.safetensors").rename(folder / "model.safetensors")
    (found,) = bad(folder)
    assert "is missing: `model.safetensors`" in found.message


def cache(tmp_path: Path, target: str) -> Path:
    """A snapshot folder with one file that links to `target`."""
    repository = tmp_path / "models--a--small"
    snapshot = repository / "snapshots" / "rev"
    snapshot.mkdir(parents=True)
    for place in (repository / "blobs", tmp_path / "models--other" / "blobs"):
        place.mkdir(parents=True)
        (place / "0a1b").touch()
    (snapshot / "model.safetensors").symlink_to(target)
    return snapshot


def test_links_of_a_cache(tmp_path: Path) -> None:
    assert good(cache(tmp_path, "../../blobs/0a1b")) == ["model.safetensors"]


def test_links_of_a_cache_into_another_repository(tmp_path: Path) -> None:
    (found,) = bad(cache(tmp_path, "../../../models--other/blobs/0a1b"))
    assert "is a link that leaves the folder" in found.message


def test_places_without_a_checkpoint(folder: Path, card: Card) -> None:
    (found,) = bad(folder / "absent")
    assert found.message == f"there are no weights at {folder / 'absent'}: it does not exist"
    (found,) = bad(folder, card)
    assert found.message == f"the folder {folder} holds no checkpoint"
    assert found.notes == (
        f"looked for one.safetensors, two.safetensors, {INDEX}, model.safetensors",
    )
    (folder / "x.bin").touch()
    (found,) = bad(folder / "x.bin")
    assert "is neither a .safetensors file nor a folder of them" in found.message
    save = (
        'safetensors.torch.save_file(torch.load("x.bin", weights_only=True), "model.safetensors")'
    )
    assert found.help == f"convert it: `{save}`"
    (found,) = bad(folder, card)
    assert found.help == f"convert it: `{save}`"
    index = folder / "pytorch_model.bin.index.json"
    index.write_text("{}")
    (found,) = bad(index)
    assert found.help == "convert each of its files by `safetensors.torch.save_file`"
    (found,) = bad(folder / ("x" * 5000))
    assert "cannot be read: file name too long" in found.message
