/** `spillway sessions`: the sessions that left logs, newest first. */
import type { Command } from "commander";
import { type KnownSession, listSessions, sessionsRoot } from "../../sessions/index.ts";
import { table } from "../table.ts";
import { json, say } from "../terminal.ts";

const EXAMPLES = `
Examples:
  spillway sessions
  spillway sessions --json
`;

export function define(command: Command): void {
  command
    .option("--json", "for programs")
    .option("--names", "names alone, one a line")
    .addHelpText("after", EXAMPLES)
    .action((options: { json?: true; names?: true }) => {
      const sessions = listSessions();
      if (options.json) return say(json(sessions));
      if (options.names) return say(sessions.map(({ name }) => `${name}\n`).join(""));
      if (sessions.length === 0) return say(`There are no sessions in ${sessionsRoot()} yet.`);
      say(
        table([["session", "status", "started", "supervisor", "dashboard"], ...sessions.map(row)], { hasHead: true }),
      );
    });
}

function row({ name, status, isReadable, startedAt, supervisor, dashboard }: KnownSession): string[] {
  const started = startedAt?.toISOString().slice(0, 19).replace("T", " ") ?? "";
  const standing = isReadable ? status : `${status}, written by another version`;
  return [name, standing, started, status === "running" ? String(supervisor ?? "") : "", dashboard ?? ""];
}
