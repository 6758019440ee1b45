"""One server for all tests of the protocol: starting it takes longer than most of them."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest_asyncio
import pytest_lsp
from lsprotocol import types as lsp
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

from tests.lsp.editor import Editor

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "linnet", "lsp", "--stdio"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


class Client(LanguageClient):
    """Passes on to the editor of the running test what is published."""

    editor: Editor | None = None
    can: lsp.ServerCapabilities | None = None

    def __init__(self) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            converter_factory=default_converter
        )
        self.watched: list[lsp.Registration] = []


def publish(client: Client, params: lsp.PublishDiagnosticsParams) -> None:
    if client.editor is not None:
        client.editor.publish(params)


def register(client: Client, params: lsp.RegistrationParams) -> None:
    client.watched.extend(params.registrations)


def make_client() -> Client:
    client = Client()
    features = {
        **DEFAULT_CLIENT_FEATURES,
        lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: publish,
        lsp.CLIENT_REGISTER_CAPABILITY: register,
    }
    register_lsp_features(client, features)
    return client


@pytest_lsp.fixture(  # pyright: ignore[reportUnknownMemberType]
    scope="session", config=ClientServerConfig(COMMAND, make_client, ENVIRONMENT)
)
async def client(client: Client) -> AsyncGenerator[None]:
    """A client whose server has begun."""
    capabilities = pytest_lsp.client_capabilities("visual-studio-code")
    begun = await client.initialize_session(lsp.InitializeParams(capabilities=capabilities))
    client.can = begun.capabilities
    yield
    await client.shutdown_session()


@pytest_asyncio.fixture
async def editor(client: Client) -> AsyncGenerator[Editor]:
    """An editor without open files. The server must not have made a mistake at the end."""
    client.editor = editor = Editor(client)
    logged = len(client.log_messages)
    yield editor
    for uri in list(editor.versions):
        editor.close(uri)
    errors = [m.message for m in client.log_messages[logged:] if m.type == lsp.MessageType.Error]
    assert errors == [], errors[0]
