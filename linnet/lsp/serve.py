"""Starting the server."""

from __future__ import annotations

import os
import sys

from linnet.lsp.features import add_features
from linnet.lsp.server import Server, add_texts


def serve() -> None:
    """Serve the editor at standard input and output until it leaves."""
    server = Server()
    add_texts(server)
    add_features(server)
    # The server closes what it speaks through, and nothing else may be written there.
    protocol = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    server.start_io(stdout=protocol)
