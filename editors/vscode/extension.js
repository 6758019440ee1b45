"use strict";

// Starts `linnet lsp` for .linnet files. All that is known of the language is in the server.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** @type {LanguageClient | undefined} */
let client;

async function start() {
  const [command, ...args] = vscode.workspace.getConfiguration("linnet").get("command");
  const server = { command, args };
  client = new LanguageClient("linnet", "Linnet", server, {
    documentSelector: [{ scheme: "file", language: "linnet" }],
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const way = 'Install it with `pip install "linnet[lsp]"`, or set `linnet.command`.';
    vscode.window.showErrorMessage(`\`${command}\` did not start: ${error}. ${way}`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("linnet.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("linnet.command")) {
        return restart();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
