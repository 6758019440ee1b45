"""`linnet lsp` where the language server is not installed; with it, see tests/lsp."""

from __future__ import annotations

import sys

import pytest

from linnet.cli.main import main


@pytest.mark.parametrize("name", ["pygls", "lsprotocol"])
def test_a_server_that_is_not_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    assert main(["lsp"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"error[E2190]: `linnet lsp` needs `{name}`, which is not installed" in err
    assert 'help: install it with: pip install "linnet[lsp]"' in err
