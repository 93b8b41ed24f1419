/** `spillway doctor`: what on this machine gets in the way of a session, and what to do about it. */
import type { Command } from "commander";
import { readConfig } from "../../config/index.ts";
import { OptionError } from "../../errors/index.ts";
import { systemFiles } from "../../memory/index.ts";
import { onThisMachine, type ResolvedOptions } from "../../session/options.ts";
import { type Finding, good, note, type State, wrong } from "../doctor/finding.ts";
import { leftovers } from "../doctor/leftovers.ts";
import { groupKill, limits, memory, nodeVersion, overcommit } from "../doctor/machine.ts";
import { logsDirectory, sharedMemory, spillDirectory } from "../doctor/storage.ts";
import { settingsOf } from "../settings.ts";
import { listing } from "../table.ts";
import { json, say, styled } from "../terminal.ts";

const EXAMPLES = `
Exit code 1: something is wrong.

Examples:
  spillway doctor
  spillway doctor --local-directory /scratch    with this setting
  spillway doctor --clean                       removes what killed sessions have left
`;

const MARKS: Readonly<Record<State, string>> = { good: "ok  ", note: "note", wrong: "BAD " };
const LOOKS = { good: "green", note: "yellow", wrong: "red" } as const;

export function define(command: Command): void {
  const settings = settingsOf(command);
  command
    .option("--json", "for programs")
    .option("--clean", "remove what killed sessions have left")
    .addHelpText("after", EXAMPLES)
    .action((options: { json?: true; clean?: true }) => {
      const findings = examine(settings(), options.clean === true);
      say(options.json ? json(findings) : asText(findings));
      if (findings.some(({ state }) => state === "wrong")) process.exitCode = 1;
    });
}

function examine(words: readonly string[], clean: boolean): readonly Finding[] {
  const { read } = systemFiles;
  const machine = [nodeVersion(process.version), memory(read), ...overcommit(read), ...groupKill(read)];
  let options: ResolvedOptions;
  try {
    options = onThisMachine(readConfig({ arguments: words }));
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    const settings = wrong("settings", error.message, "Correct it: no session starts with it.");
    return [...machine, settings, logsDirectory()];
  }
  const { capacity, localDirectories, notices } = options;
  return [
    ...machine,
    ...limits(read, capacity),
    sharedMemory(capacity),
    ...localDirectories.map((path) => spillDirectory(path, capacity)),
    logsDirectory(),
    leftovers(localDirectories, clean),
    jemalloc(words),
    ...notices.map((text) => note("settings", text, "See spillway info and docs/configuration.md.")),
  ];
}

function jemalloc(words: readonly string[]): Finding {
  try {
    onThisMachine(readConfig({ arguments: [...words, "--allocator=jemalloc"] }));
    return good("jemalloc", 'installed: allocator: "jemalloc" can be set');
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    const install = /Install it: [^.]*\./.exec(error.message)?.[0] ?? error.message;
    return good("jemalloc", `not installed, and not needed unless allocator is "jemalloc". ${install}`);
  }
}

function asText(findings: readonly Finding[]): string {
  const lines = findings.map(({ state, subject, text, remedy }) => {
    const end = text.endsWith(".") ? "" : ".";
    const said = listing([[MARKS[state], `${subject}: ${text}${remedy === null ? "" : `${end} ${remedy}`}`]]);
    return said.replace(MARKS[state], styled(LOOKS[state], MARKS[state]));
  });
  const count = (state: State) => findings.filter((finding) => finding.state === state).length;
  const [bad, notes] = [count("wrong"), count("note")];
  const end = bad === 0 ? "Nothing is wrong" : `${bad} ${bad === 1 ? "thing is" : "things are"} wrong`;
  return `${lines.join("")}${end}${notes === 0 ? "" : `, ${notes} ${notes === 1 ? "note" : "notes"}`}.\n`;
}
