"""The language server of `linnet lsp`. It needs the extra `lsp`: only `cli.lsp` imports it."""
