/**
 * Completion, installed as the help of `spillway completion` says, in real shells: what they make of a word and Tab.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { CLI, spillway } from "../support/command-line.ts";
import { requires } from "../support/requires.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { inTerminal } from "../support/terminal.ts";

const directory = temporaryDirectory("cli-completion");
const session = "20260131T235959-1-abcdef";
const scripts = {
  bash: join(directory, "bash/spillway"),
  zsh: join(directory, "zsh/_spillway"),
  fish: join(directory, "fish/completions/spillway.fish"),
};
const env = {
  ...process.env,
  PATH: `${join(directory, "bin")}:${process.env.PATH}`,
  XDG_STATE_HOME: join(directory, "state"),
  XDG_CONFIG_HOME: directory,
  XDG_DATA_HOME: join(directory, "data"),
  ZDOTDIR: directory,
};

/** What is typed before Tab, and what the command line is then. */
const WORDS = [
  ["mem", "memory"],
  ["memory --j", "memory --json"],
  ["run --worker.memory.ta", "run --worker.memory.target"],
  ["report 2026", `report ${session}`],
  ["completion fi", "completion fish"],
] as const;

const isThere = (shell: string) => spawnSync(shell, ["-c", "true"]).status === 0;
const withShell = (shell: string) => requires(shell, isThere(shell) ? null : "it is not installed");

beforeAll(() => {
  for (const [shell, path] of Object.entries(scripts)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, spillway(["completion", shell]).stdout);
  }
  mkdirSync(join(directory, "state/spillway", session), { recursive: true });
  writeFileSync(join(directory, "state/spillway", session, "events.jsonl"), "");
  // Says with which words it was started. The scripts ask it for the names of sessions.
  const command = join(directory, "bin/spillway");
  mkdirSync(dirname(command));
  writeFileSync(
    command,
    `#!/bin/sh\nif [ "$1" = sessions ]; then exec "${process.execPath}" "${CLI}" "$@"; fi\necho "ran: $*."\n`,
  );
  chmodSync(command, 0o755);
});

/** Types the words in a shell on a terminal, each followed by Tab and Enter, and returns what the shell ran. */
async function ran(shell: readonly string[]): Promise<readonly string[]> {
  const typed = WORDS.map(([word], index) => ({
    after: index === 0 ? "ready: " : ".\r\n",
    type: `spillway ${word}\t\n`,
  }));
  const { output } = await inTerminal(shell, {
    cwd: directory,
    env,
    columns: 150,
    seconds: 120,
    actions: [...typed, { after: ".\r\n", type: "exit\n" }],
  });
  return [...output.matchAll(/ran: (.*)\.\r\n/g)].map(([, words = ""]) => words.trim());
}

const expected = WORDS.map(([, line]) => line);

withShell("bash").test("[W4] bash completes commands, options, settings, sessions and choices", async () => {
  const start = join(directory, ".bashrc");
  writeFileSync(start, `PS1='ready: '\nsource ${scripts.bash}\n`);
  expect(await ran(["bash", "--noprofile", "--rcfile", start, "-i"])).toEqual(expected);
});

withShell("zsh").test("[W4] zsh completes the same from a directory of fpath, with the first Tab too", async () => {
  const lines = ["PS1='ready: '", `fpath=(${dirname(scripts.zsh)} $fpath)`, "autoload -U compinit", "compinit -u"];
  writeFileSync(join(directory, ".zshrc"), lines.join("\n"));
  expect(await ran(["zsh", "-d", "-i"])).toEqual(expected);
});

withShell("fish").test("[W4] fish completes the same, with descriptions", () => {
  const completed = WORDS.map(([word]) => {
    const line = `spillway ${word}`;
    const { stdout } = spawnSync("fish", ["-c", `complete -C '${line}'`], { env, encoding: "utf8" });
    const [only = "", ...more] = stdout.trimEnd().split("\n");
    expect(more).toEqual([]);
    return `${word.slice(0, word.lastIndexOf(" ") + 1)}${only.split("\t")[0]}`;
  });
  expect(completed).toEqual(expected);
  const { stdout } = spawnSync("fish", ["-c", "complete -C 'spillway '"], { env, encoding: "utf8" });
  const described = stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t"));
  expect(new Map(described.map(([name = "", summary]) => [name, summary]))).toEqual(
    new Map(COMMANDS.map(({ name, summary }) => [name, summary])),
  );
});
