"""Cards that tests write."""

from __future__ import annotations

from pathlib import Path


def card_folder(parent: Path, name: str, source: str, card: str) -> Path:
    """A package of one module with its card, in a folder of the package's name."""
    folder = parent / name
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "lib.linnet").write_text(source)
    (folder / "nest.toml").write_text(card)
    manifest = f'[package]\nname = "{name}"\nversion = "0.1.0"\nlanguage = "0.1"\n'
    (folder / "linnet.toml").write_text(manifest)
    return folder
