-- Linnet in Neovim 0.11 or later: put this file where your init.lua reads it.
-- Where `linnet` is not on the path, give `cmd` the command of your environment.

vim.filetype.add({ extension = { linnet = "linnet" } })

vim.lsp.config("linnet", {
  cmd = { "linnet", "lsp" },
  filetypes = { "linnet" },
  root_markers = { "linnet.toml", ".git" },
})
vim.lsp.enable("linnet")

vim.api.nvim_create_autocmd("FileType", {
  pattern = "linnet",
  callback = function(event)
    vim.bo[event.buf].commentstring = "// %s"
    vim.bo[event.buf].expandtab = true
    vim.bo[event.buf].shiftwidth = 4
  end,
})

-- Inferred types and shapes behind each `let`.
vim.lsp.inlay_hint.enable(true)
