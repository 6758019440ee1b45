"""The editor's questions about a text, each with the part of this folder that answers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from linnet.lsp.actions import actions
from linnet.lsp.complete import completions
from linnet.lsp.hints import hints
from linnet.lsp.hover import hover
from linnet.lsp.references import definition, references
from linnet.lsp.rename import RenameError, rename, renaming
from linnet.lsp.server import Place, Server, path_at
from linnet.lsp.symbols import Symbol, symbols
from linnet.source.diagnostics import Sink
from linnet.source.files import SourceFile
from linnet.syntax.format.source import formatted

_REQUEST_FAILED = -32803  # LSPErrorCodes.RequestFailed: a request that was right, and the answer no


def add_features(server: Server) -> None:
    """Let `server` answer all of them."""

    def answers(method: str, answer: Callable[[Any], Any], options: Any = None) -> None:
        @server.feature(method, options)
        def asked(params: Any) -> Any:  # pyright: ignore[reportUnusedFunction]
            try:
                return server.guarded(lambda: answer(params), RenameError)
            except RenameError as refusal:
                raise JsonRpcException(str(refusal), _REQUEST_FAILED) from None

    def at_place(method: str, answer: Callable[[Server, Place, Any], Any]) -> None:
        def asked(params: Any) -> Any:
            place = server.place(params.text_document.uri, params.position)
            return None if place is None else answer(server, place, params)

        answers(method, asked)

    at_place(lsp.TEXT_DOCUMENT_HOVER, _hover)
    at_place(lsp.TEXT_DOCUMENT_DEFINITION, _definition)
    at_place(lsp.TEXT_DOCUMENT_REFERENCES, _references)
    at_place(lsp.TEXT_DOCUMENT_PREPARE_RENAME, _prepare_rename)
    at_place(lsp.TEXT_DOCUMENT_RENAME, _rename)
    completing = lsp.CompletionOptions(["."])
    answers(lsp.TEXT_DOCUMENT_COMPLETION, lambda p: _completion(server, p), completing)
    answers(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, lambda p: _document_symbols(server, p))
    answers(lsp.WORKSPACE_SYMBOL, lambda p: _workspace_symbols(server, p))
    answers(lsp.TEXT_DOCUMENT_FORMATTING, lambda p: _formatting(server, p))
    answers(lsp.TEXT_DOCUMENT_INLAY_HINT, lambda p: _hints(server, p))
    answers(lsp.TEXT_DOCUMENT_CODE_ACTION, lambda p: _actions(server, p))


def _hover(server: Server, place: Place, params: lsp.HoverParams) -> lsp.Hover | None:
    said = hover(place.analysis, place.file, place.offset)
    if said is None:
        return None
    text = lsp.MarkupContent(lsp.MarkupKind.Markdown, said.text)
    return lsp.Hover(text, server.convert().range(said.span))


def _definition(server: Server, place: Place, params: lsp.DefinitionParams) -> lsp.Location | None:
    span = definition(place.analysis, place.file, place.offset)
    return None if span is None else server.convert().location(span)


def _references(
    server: Server, place: Place, params: lsp.ReferenceParams
) -> list[lsp.Location] | None:
    found = place.analysis.names.at(place.file, place.offset)
    if found is None or found.declaration is None:
        return None
    everywhere = server.everywhere(place.analysis)
    declared = params.context.include_declaration
    spans = references(everywhere, found.declaration.meant, declared).values()
    return list(map(server.convert().location, spans))


def _prepare_rename(
    server: Server, place: Place, params: lsp.PrepareRenameParams
) -> lsp.PrepareRenamePlaceholder:
    found = renaming(place.analysis, place.file, place.offset)
    range_ = server.convert().range(found.span)
    return lsp.PrepareRenamePlaceholder(range_, found.declaration.name)


def _rename(server: Server, place: Place, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
    found = renaming(place.analysis, place.file, place.offset)
    checks = server.everywhere(place.analysis)
    edits = rename(checks, found, params.new_name, server.session.texts())
    convert = server.convert()
    sources = {path: file for check in checks for file, path in check.paths.items()}
    changes = {
        convert.uri(path): list(map(convert.places(sources[path]).edit, here))
        for path, here in edits.items()
    }
    return lsp.WorkspaceEdit(changes=changes)


def _completion(server: Server, params: lsp.CompletionParams) -> list[lsp.CompletionItem] | None:
    path = path_at(params.text_document.uri)
    buffer = server.session.buffers.get(path) if path is not None else None
    if path is None or buffer is None:
        return None
    file = SourceFile(buffer.uri, buffer.text)
    offset = server.convert().places(file).offset(params.position)
    found = completions(path, file, offset, server.session.texts())
    return [
        lsp.CompletionItem(
            label=completion.label,
            kind=completion.kind,
            detail=completion.detail or None,
            documentation=completion.doc
            and lsp.MarkupContent(lsp.MarkupKind.Markdown, completion.doc),
        )
        for completion in found
    ]


def _document_symbols(
    server: Server, params: lsp.DocumentSymbolParams
) -> list[lsp.DocumentSymbol] | None:
    found = server.analysis(params.text_document.uri)
    tree = found and found[0].tree(found[1])
    if tree is None:
        return None
    convert = server.convert()

    def converted(symbol: Symbol) -> lsp.DocumentSymbol:
        return lsp.DocumentSymbol(
            name=symbol.name,
            kind=symbol.kind,
            range=convert.range(symbol.span),
            selection_range=convert.range(symbol.selection),
            detail=symbol.detail,
            children=list(map(converted, symbol.inside)),
        )

    return list(map(converted, symbols(tree)))


def _workspace_symbols(
    server: Server, params: lsp.WorkspaceSymbolParams
) -> list[lsp.WorkspaceSymbol]:
    convert = server.convert()
    found: dict[tuple[str, str], lsp.WorkspaceSymbol] = {}

    def add(symbol: Symbol, container: str) -> None:
        if _fuzzy(params.query, symbol.name):
            place = convert.location(symbol.selection)
            made = lsp.WorkspaceSymbol(place, symbol.name, symbol.kind, container_name=container)
            found.setdefault((symbol.name, repr(place)), made)
        for inner in symbol.inside:
            add(inner, f"{container}::{symbol.name}")

    for analysis in server.everywhere():
        for module in analysis.checked.graph.roots:
            for symbol in symbols(module.tree):
                add(symbol, module.key)
    return list(found.values())


def _fuzzy(query: str, name: str) -> bool:
    """Whether the letters of a query are in a name, in order: the editor ranks what it gets."""
    letters = iter(name.casefold())
    return all(letter in letters for letter in query.casefold())


def _formatting(server: Server, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
    document = server.workspace.text_documents.get(params.text_document.uri)
    if document is None:  # not open: the edits would be of another text than the editor's
        return None
    file = SourceFile(document.uri, document.source)
    text = formatted(file, Sink())
    if text is None or text == file.text:
        return None
    return [lsp.TextEdit(server.convert().places(file).whole(), text)]


def _actions(server: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction] | None:
    uri = params.text_document.uri
    start, end = (server.place(uri, at) for at in (params.range.start, params.range.end))
    found = server.analysis(uri)
    tree = found and found[0].tree(found[1])
    if start is None or end is None or tree is None:
        return None
    convert = server.convert()
    places = convert.places(start.file)
    sink = start.analysis.checked.sink
    return [
        lsp.CodeAction(
            title=action.title,
            kind=lsp.CodeActionKind.QuickFix,
            diagnostics=[convert.diagnostic(action.finding)],
            is_preferred=action.sure,
            edit=lsp.WorkspaceEdit(changes={uri: [places.edit(e) for e in action.edits]}),
        )
        for action in actions(tree, sink, start.file, start.offset, end.offset)
    ]


def _hints(server: Server, params: lsp.InlayHintParams) -> list[lsp.InlayHint] | None:
    start = server.place(params.text_document.uri, params.range.start)
    end = server.place(params.text_document.uri, params.range.end)
    if start is None or end is None:
        return None
    places = server.convert().places(start.file)
    found: list[lsp.InlayHint] = []
    for hint in hints(start.analysis, start.file, start.offset, end.offset):
        at = places.position(hint.at)
        edits = [lsp.TextEdit(lsp.Range(at, at), hint.text)] if hint.writable else None
        found.append(lsp.InlayHint(at, hint.text, lsp.InlayHintKind.Type, edits))
    return found
