"""Reading `nest.toml`: values, and every mistake with its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from linnet.nest import card as card_module
from linnet.nest.card import list_cards, load_card
from linnet.source.diagnostics import Diagnostic, Sink

SEED = Path(__file__).parents[2] / ".." / "shared" / "seed" / "gpt-oss-20b"


def findings(folder: Path) -> list[Diagnostic]:
    sink = Sink()
    assert load_card(folder, sink) is None
    return list(sink)


def only(folder: Path) -> Diagnostic:
    found = findings(folder)
    assert [d.code for d in found] == ["E5001"], [d.message for d in found]
    return found[0]


def place(diagnostic: Diagnostic) -> tuple[int, int, str]:
    assert diagnostic.span is not None
    position = diagnostic.span.file.position(diagnostic.span.start)
    return position.line, position.column, diagnostic.span.text


def test_reads_every_key(make_card: Callable[..., Path]) -> None:
    sink = Sink()
    folder = make_card(
        ('bindings = "bindings.json"\n', 'bindings = "bindings.json"\ntied = [["a", "b"]]\n')
    )
    card = load_card(folder, sink)
    assert not list(sink)
    assert card is not None
    assert (card.name, card.title, card.family, card.tags) == ("small", "Small", "small", ("test",))
    assert (card.parameters, card.license) == (6, "MIT")
    assert card.links == {"huggingface": "https://huggingface.co/a/small"}
    assert card.source == folder / "src" / "lib.linnet"
    assert (card.root, card.entry) == ("Model", "forward")
    assert (card.generics, card.check, card.tiny) == ({"H": 2, "T": "f32"}, {"S": 8}, {"H": 1})
    assert card.weights.files == ("one.safetensors", "two.safetensors")
    assert card.weights.bindings == folder / "bindings.json"
    assert card.weights.tied == (("a", "b"),)
    assert card.place("generics", "H").text == "H"
    assert card.place("generics", "Absent").text == "generics"


@pytest.mark.skipif(not SEED.exists(), reason="../shared is absent")
def test_reads_the_seed_card() -> None:
    sink = Sink()
    card = load_card(SEED, sink)
    assert not list(sink)
    assert card is not None
    assert card.parameters == 20_914_757_184
    assert card.generics["MaxSeq"] == 4096
    assert card.generics["T"] == "bf16"


def test_all_mistakes_in_one_run(make_card: Callable[..., Path]) -> None:
    folder = make_card(
        ('license = "MIT"', 'licence = "MIT"'),
        ('root = "Model"\n', ""),
        ("S = 8", 'S = "8"'),
        ("[check]", "[chek]\n[check]"),
    )
    found = findings(folder)
    assert [(d.code, d.message, d.help) for d in found] == [
        ("E5001", "unknown table `chek`", "did you mean `check`?"),
        ("E5001", "unknown key `licence` in `[model]`", "did you mean `license`?"),
        (
            "E5001",
            "`[source]` lacks the key `root`",
            "add `root = ...`, a name such as `Model`",
        ),
        ("E5001", "`S` in `[check]` must be an integer from 0 to 2^63 - 1", None),
    ]
    assert [place(d) for d in found] == [
        (21, 2, "chek"),
        (5, 1, "licence"),
        (13, 2, "source"),
        (23, 5, '"8"'),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message", "text"),
    [
        ("parameters = 6", "parameters = true", "`parameters` in `[model]`", "true"),
        ("parameters = 6", "parameters = 0", "must be an integer above 0", "0"),
        ("parameters = 6", "parameters = 6.0", "must be an integer above 0", "6.0"),
        ('tags = ["test"]', 'tags = ["a", 1]', "must be a list of texts", '["a", 1]'),
        ('title = "Small"', 'title = " "', "must be a text that is not empty", '" "'),
        ('"https://huggingface.co/a/small"', '"ftp://x"', "begins with https://", '"ftp://x"'),
        ('T = "f32"', 'T = "float"', "an integer or a dtype", '"float"'),
        ('T = "f32"', "T = [1]", "an integer or a dtype", "[1]"),
        ('T = "f32"', "T = true", "an integer or a dtype", "true"),
        ('root = "Model"', 'root = "Mo del"', "a name such as `Model`", '"Mo del"'),
        ('"src/lib.linnet"', '"../lib.linnet"', "inside the card's folder", '"../lib.linnet"'),
        ('"src/lib.linnet"', '"/lib.linnet"', "inside the card's folder", '"/lib.linnet"'),
        ('"src/lib.linnet"', '"src/lob.linnet"', "`src/lob.linnet` is not in", '"src/lob.linnet"'),
        ('"bindings.json"', "'..\\b.json'", "inside the card's folder", "'..\\b.json'"),
        ('name = "small"', 'name = "tall"', "`tall` differs from its folder's, `small`", '"tall"'),
        ('"0123456789abcdef0123456789abcdef01234567"', '"main"', "a full commit hash", '"main"'),
        ('["one.safetensors", "two.safetensors"]', "[]", "one or more .safetensors", "[]"),
        (
            '["one.safetensors", "two.safetensors"]',
            '["a.safetensors", "a.safetensors"]',
            "each once",
            '["a.safetensors", "a.safetensors"]',
        ),
        ('"a/small"\nr', '"a/b/c"\nr', "a repository such as", '"a/b/c"'),
        ("[tiny]\nH = 1", "[tiny]\nG = 1", "`G` in `[tiny]` is not among `[generics]`", "G"),
        ("[tiny]\nH = 1", "[tiny]\nH = 1.5", "an integer or a dtype", "1.5"),
    ],
)
def test_wrong_values(
    make_card: Callable[..., Path], old: str, new: str, message: str, text: str
) -> None:
    found = only(make_card((old, new)))
    assert message in found.message
    assert place(found)[2] == text


def test_a_key_that_must_be_a_table(make_card: Callable[..., Path]) -> None:
    folder = make_card(("[model]\n", "tiny = 1\n[model]\n"), ("[tiny]\nH = 1\n", ""))
    found = only(folder)
    assert found.message == "`tiny` must be a table: write `[tiny]` on a line of its own"
    assert place(found) == (1, 1, "tiny")


def test_a_misspelt_table_is_not_missing_too(make_card: Callable[..., Path]) -> None:
    found = only(make_card(("[source]", "[sources]")))
    assert (found.message, found.help) == ("unknown table `sources`", "did you mean `source`?")
    # What `[tiny]` says of generics is then not known to be wrong.
    assert only(make_card(("[generics]", "[generic]"))).message == "unknown table `generic`"


def test_missing_tables(make_card: Callable[..., Path]) -> None:
    folder = make_card()
    (folder / "nest.toml").write_text("")
    assert [d.message for d in findings(folder)] == [
        "the table `[model]` is missing",
        "the table `[source]` is missing",
        "the table `[weights]` is missing",
    ]


def test_optional_tables_may_be_absent(make_card: Callable[..., Path]) -> None:
    folder = make_card(
        ("[check]\nS = 8\n", ""),
        ("[tiny]\nH = 1\n", ""),
        ('[generics]\nH = 2\nT = "f32"\n', ""),
        ('tags = ["test"]\n', ""),
        ('bindings = "bindings.json"\n', ""),
    )
    sink = Sink()
    card = load_card(folder, sink)
    assert not list(sink)
    assert card is not None
    assert (card.tags, card.generics, card.check, card.tiny) == ((), {}, {}, {})
    assert card.weights.bindings == folder / "bindings.json"
    (folder / "bindings.json").unlink()
    again = load_card(folder, sink)
    assert again is not None
    assert again.weights.bindings is None


def test_syntax_error_has_its_place(make_card: Callable[..., Path]) -> None:
    found = only(make_card(("parameters = 6", "parameters = = 6")))
    assert place(found)[:2] == (8, 14)


def test_not_a_card(tmp_path: Path) -> None:
    assert only(tmp_path).message == f"the folder {tmp_path} holds no nest.toml, so it is no card"
    assert "there is no card named" in only(tmp_path / "absent").message


def test_a_source_file_is_no_card(tmp_path: Path) -> None:
    source = tmp_path / "gqa.linnet"
    source.write_text("module gqa\n")
    found = only(source)
    assert found.message == f"`{source}` is a source file, and what runs is a card"
    assert found.help == "`linnet init gqa` makes one, with a program in gqa/src to put yours in"
    assert found.notes[0].startswith("a card is a folder with a nest.toml")


def test_shipped_cards_by_name(
    make_card: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_card()
    monkeypatch.setattr(card_module, "shipped_folder", lambda: folder.parent)
    assert list_cards() == ("small",)
    sink = Sink()
    card = load_card("small", sink)
    assert card is not None
    assert card.directory == folder
    assert load_card("smal", sink) is None
    (found,) = sink
    assert found.message == "there is no card named `smal`, and no folder of that path"
    assert (found.help, found.notes) == ("did you mean `small`?", ("shipped cards: small",))
