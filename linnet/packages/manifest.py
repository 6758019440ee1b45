"""`linnet.toml`: a package's name, its version and language, its dependencies."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from linnet.packages.text import is_file, link_out_message, real, shown
from linnet.packages.toml_file import TomlFile, read_toml
from linnet.source.diagnostics import Diagnostic, Sink
from linnet.source.files import SourceFile, Span
from linnet.source.shown import shown as shown_name
from linnet.source.suggest import did_you_mean
from linnet.syntax.tokens import KEYWORDS, RESERVED

MANIFEST = "linnet.toml"
LANGUAGES = ("0.1",)

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_TAKEN = ("std", "crate", "self", "super")


@dataclass(frozen=True, slots=True)
class Manifest:
    """A package as its manifest declares it; `dependencies` are real package folders by key."""

    file: SourceFile
    name: str
    version: str
    language: str
    dependencies: dict[str, Path]


def is_identifier(text: str) -> bool:
    """Whether the text can be a name in a module path, behind a dot."""
    word = text in KEYWORDS or (text in RESERVED and text != "random")
    return _IDENTIFIER.match(text) is not None and not word


def load_manifest(
    folder: Path, sink: Sink, shown: Callable[[Path], str] = shown
) -> Manifest | None:
    """The manifest of the package in `folder`. Everything wrong with it is reported (E5001), in
    the file as it is `shown`."""
    path = folder / MANIFEST
    if not real(path).is_relative_to(real(folder)):
        sink.add(Diagnostic("E5001", link_out_message(shown(path), "its package"), None))
        return None
    toml = read_toml(path, sink, shown(path))
    if toml is None:
        return None
    if not isinstance(toml.values.get("package"), dict):
        hint = "add a table [package] with name, version and language"
        sink.add(Diagnostic("E5001", "[package] is missing", toml.key("package"), help=hint))
        return None
    before = sink.errors
    _unknown_keys(toml, (), toml.values, ("package", "dependencies"), sink)
    _unknown_keys(toml, ("package",), _package(toml), ("name", "version", "language"), sink)
    name = _text(toml, "name", sink)
    version = _text(toml, "version", sink)
    language = _text(toml, "language", sink)
    if name is not None:
        _check_name(name, "package name", toml.value("package", "name"), sink)
    if language is not None and language not in LANGUAGES:
        message = f"language `{language}` is not known here"
        hint = f"this version reads language {', '.join(LANGUAGES)}"
        sink.add(Diagnostic("E5001", message, toml.value("package", "language"), help=hint))
    dependencies = _dependencies(toml, folder, sink)
    if sink.errors > before or name is None or version is None or language is None:
        return None
    return Manifest(toml.source, name, version, language, dependencies)


def _package(toml: TomlFile) -> dict[str, Any]:
    table = toml.values.get("package")
    return cast("dict[str, Any]", table) if isinstance(table, dict) else {}


def _unknown_keys(
    toml: TomlFile, path: tuple[str, ...], table: dict[str, Any], known: tuple[str, ...], sink: Sink
) -> None:
    for key in table:
        if key not in known:
            hint = did_you_mean(key, known) or f"known here: {', '.join(known)}"
            place = toml.key(*path, key)
            sink.add(Diagnostic("E5001", f"unknown key `{key}`", place, help=hint))


def _text(toml: TomlFile, key: str, sink: Sink) -> str | None:
    """A required string of `[package]`."""
    table = _package(toml)
    value = table.get(key)
    if isinstance(value, str) and value:
        return value
    place = toml.value("package", key)
    if key in table:
        message = f"`{key}` in [package] must be a string that is not empty"
        sink.add(Diagnostic("E5001", message, place))
    else:
        message = f"`{key}` is missing in [package]"
        sink.add(Diagnostic("E5001", message, place, help=f'add `{key} = "..."`'))
    return None


def why_misnamed(name: str, what: str) -> tuple[str, str | None] | None:
    """Why a name cannot be that of a package or a dependency, and a way out; None if it can."""
    if name in _TAKEN:
        return f"`{name}` cannot be a {what}: the name is taken", None
    if name in KEYWORDS or name in RESERVED:
        message = f"`{name}` cannot be a {what}: it is a word of the language"
        return message, f"write `{name}_`, for instance"
    if not is_identifier(name):
        hint = "use letters, digits and `_`, and begin with no digit"
        return f"{shown_name(name)} cannot be a {what}", hint
    return None


def _check_name(name: str, what: str, place: Span, sink: Sink) -> None:
    problem = why_misnamed(name, what)
    if problem is not None:
        message, hint = problem
        sink.add(Diagnostic("E5001", message, place, help=hint))


def _dependencies(toml: TomlFile, folder: Path, sink: Sink) -> dict[str, Path]:
    table: object = toml.values.get("dependencies", {})
    if not isinstance(table, dict):
        sink.add(Diagnostic("E5001", "[dependencies] must be a table", toml.key("dependencies")))
        return {}
    found: dict[str, Path] = {}
    for key, value in cast("dict[str, object]", table).items():
        place = toml.value("dependencies", key)
        _check_name(key, "dependency key", toml.key("dependencies", key), sink)
        wanted = cast("dict[str, object]", value).get("path") if isinstance(value, dict) else None
        if not isinstance(wanted, str) or len(cast("dict[str, object]", value)) != 1:
            message = f"dependency `{key}` must be a table with `path`"
            hint = f'write `{key} = {{ path = "..." }}`'
            sink.add(Diagnostic("E5001", message, place, help=hint))
            continue
        if not is_file(folder / wanted / MANIFEST):
            message = f"no package at `{wanted}`: there is no {MANIFEST} in that folder"
            sink.add(Diagnostic("E5001", message, place))
            continue
        found[key] = real(folder / wanted)
    return found
