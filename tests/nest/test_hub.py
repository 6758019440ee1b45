"""The default checkpoint: from the cache, through the hub package, or a report of neither."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from linnet.nest import hub
from linnet.nest.card import Card, load_card
from linnet.nest.hub import cache_folder, default_files
from linnet.nest.locate import Files
from linnet.source.diagnostics import Diagnostic, Sink

REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def card(make_card: Callable[..., Path]) -> Card:
    card = load_card(make_card(), Sink())
    assert card is not None
    return card


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    return tmp_path / "cache"


def fill(cache: Path, *names: str) -> Path:
    """Put files into the cache as the hub package lays them out."""
    repository = cache / "models--a--small"
    snapshot = repository / "snapshots" / REVISION
    snapshot.mkdir(parents=True, exist_ok=True)
    (repository / "blobs").mkdir(exist_ok=True)
    for name in names:
        (repository / "blobs" / name[:3]).touch()
        (snapshot / name).symlink_to(f"../../blobs/{name[:3]}")
    return snapshot


def report(card: Card, offline: bool | None = None) -> Diagnostic:
    sink = Sink()
    assert default_files(card, sink, offline=offline) is None
    (found,) = sink
    assert found.code == "E5003"
    assert found.span is not None
    assert found.span.text == '"a/small"'
    return found


def test_a_complete_cache_needs_no_network(
    card: Card, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = fill(cache, "one.safetensors", "two.safetensors")
    monkeypatch.setattr(hub, "_has_network", pytest.fail)
    sink = Sink()
    files = default_files(card, sink)
    assert not list(sink)
    assert files == Files((snapshot / "one.safetensors", snapshot / "two.safetensors"))


def test_offline_says_where_it_looked(
    card: Card, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(cache, "one.safetensors")
    found = report(card, offline=True)
    assert found.message == (
        "the checkpoint of small is not in the cache, and the network is not to be used"
    )
    assert found.notes == (
        f"looked in {cache} for a/small at revision {REVISION}",
        "its files are one.safetensors, two.safetensors",
    )
    assert found.help == (
        "give a folder that holds the files as `weights`, or `tiny=True`, its small variant with "
        "random weights"
    )
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert report(card) == found


def test_without_the_package(card: Card, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "find_spec", lambda name: None)
    found = report(card)
    assert "huggingface_hub, which downloads, is not installed" in found.message
    assert found.help is not None
    assert found.help.startswith("install it with `pip install 'linnet[hub]'`, or give a folder")


def test_without_a_network(card: Card, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "find_spec", lambda name: name)
    monkeypatch.setattr(hub, "getproxies", dict)

    def fail(host: str, port: int) -> None:
        raise OSError("Name or service not known")

    monkeypatch.setattr(hub.socket, "getaddrinfo", fail)
    assert report(card).message.endswith("and there is no network to download it")


def test_downloads_into_the_cache(card: Card, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str, str]] = []

    def download(repo: str, name: str, *, revision: str, cache_dir: Path) -> str:
        asked.append((repo, name, revision))
        assert cache_dir == cache
        return str(fill(cache, name) / name)

    monkeypatch.setattr(hub, "find_spec", lambda name: name)
    monkeypatch.setattr(hub, "_has_network", lambda: True)
    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(hf_hub_download=download))
    sink = Sink()
    files = default_files(card, sink)
    assert not list(sink)
    assert files is not None
    assert [f.name for f in files.paths] == ["one.safetensors", "two.safetensors"]
    assert asked == [
        ("a/small", "one.safetensors", REVISION),
        ("a/small", "two.safetensors", REVISION),
    ]


def test_a_download_that_fails(card: Card, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(*args: object, **options: object) -> str:
        raise ValueError("401 Unauthorized\nand more")

    monkeypatch.setattr(hub, "find_spec", lambda name: name)
    monkeypatch.setattr(hub, "_has_network", lambda: True)
    monkeypatch.setitem(sys.modules, "huggingface_hub", SimpleNamespace(hf_hub_download=download))
    assert report(card).message == (
        "the checkpoint of small is not in the cache, and `one.safetensors` "
        "could not be downloaded: 401 Unauthorized"
    )


def test_the_caches_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert cache_folder() == Path("~/.cache/huggingface/hub").expanduser()
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder() == Path("/x/huggingface/hub")
    monkeypatch.setenv("HF_HOME", "/y")
    assert cache_folder() == Path("/y/hub")
    monkeypatch.setenv("HF_HUB_CACHE", "/z")
    assert cache_folder() == Path("/z")
    # Empty is not set, and a user that there is not is no reason to stop.
    for name in ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, "")
    assert cache_folder() == Path("~/.cache/huggingface/hub").expanduser()
    monkeypatch.setenv("HF_HUB_CACHE", "~nobody-of-this-name/x")
    assert cache_folder() == Path("~nobody-of-this-name/x")
