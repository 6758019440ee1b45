from __future__ import annotations

from pathlib import Path

import pytest

from linnet.packages.manifest import Manifest, load_manifest
from linnet.source.diagnostics import Diagnostic, Sink

GOOD = '[package]\nname = "a"\nversion = "0.1.0"\nlanguage = "0.1"\n'


def load(folder: Path, text: str) -> tuple[Manifest | None, list[Diagnostic]]:
    (folder / "linnet.toml").write_text(text, "utf-8")
    sink = Sink()
    return load_manifest(folder, sink), list(sink)


def test_a_manifest_with_a_dependency(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "linnet.toml").write_text(GOOD, "utf-8")
    (tmp_path / "one").mkdir()
    text = GOOD + '[dependencies]\nlib = { path = "../other" }\n'
    manifest, found = load(tmp_path / "one", text)
    assert found == [] and manifest is not None
    assert (manifest.name, manifest.version, manifest.language) == ("a", "0.1.0", "0.1")
    assert manifest.dependencies == {"lib": other.resolve()}


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("[package\n", [(1, "expected")]),
        ("", [(1, "[package] is missing")]),
        (GOOD.replace('name = "a"\n', ""), [(1, "`name` is missing")]),
        (GOOD.replace('"a"', '"gpt-oss"'), [(2, "cannot be a package name")]),
        (GOOD.replace('"a"', '"std"'), [(2, "taken")]),
        (GOOD.replace('"a"', "3"), [(2, "must be a string")]),
        (GOOD.replace('"0.1"', '"9.0"'), [(4, "not known here")]),
        (GOOD + 'autor = "x"\n', [(5, "unknown key `autor`")]),
        (GOOD + "[dependency]\n", [(5, "unknown key `dependency`")]),
        (GOOD + '[dependencies]\nx = "1.0"\n', [(6, "must be a table with `path`")]),
        (GOOD + '[dependencies]\nx = { path = "nowhere" }\n', [(6, "no package at `nowhere`")]),
        (
            GOOD + '[dependencies]\ncrate = { path = "nowhere" }\n',
            [(6, "taken"), (6, "no package")],
        ),
    ],
)
def test_what_is_wrong_is_reported_at_its_place(
    tmp_path: Path, text: str, places: list[tuple[int, str]]
) -> None:
    manifest, found = load(tmp_path, text)
    assert manifest is None
    assert [d.code for d in found] == ["E5001"] * len(places)
    for finding, (line, words) in zip(found, places, strict=True):
        assert finding.span is not None
        assert finding.span.file.position(finding.span.start).line == line
        assert words in finding.message


def test_a_misspelt_key_gets_a_suggestion(tmp_path: Path) -> None:
    _, found = load(tmp_path, GOOD + "[dependancies]\n")
    assert [d.help for d in found] == ["did you mean `dependencies`?"]


def test_a_manifest_that_is_a_link_out_of_the_package_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.toml"
    secret.write_text("secret = 1\n", "utf-8")
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "linnet.toml").symlink_to(secret)
    sink = Sink()
    assert load_manifest(folder, sink) is None
    assert ["symbolic link" in d.message for d in sink] == [True]
