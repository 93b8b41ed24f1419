/** Every command: its summary, and the module with its options. A module is loaded only for its own command. */
import type { Command } from "commander";

/** What a command's module exports. */
interface CommandModule {
  /** Gives the command its arguments, options, examples and action. */
  define(command: Command): void;
}

export interface CommandEntry {
  readonly name: string;
  readonly group: string;
  readonly summary: string;
  /** The command takes every setting of docs/configuration.md as an option. */
  readonly takesSettings?: true;
  readonly load: () => Promise<CommandModule>;
}

const RUN = "Run:";
const LOOK = "Look at a session (running, ended or killed):";
const HERE = "This machine:";

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "run",
    group: RUN,
    summary: "start a script with settings",
    takesSettings: true,
    load: () => import("./commands/run.ts"),
  },
  {
    name: "types",
    group: RUN,
    summary: "the row type of files as TypeScript",
    load: () => import("./commands/types.ts"),
  },
  {
    name: "dashboard",
    group: LOOK,
    summary: "its pages in a browser",
    load: () => import("./commands/dashboard.ts"),
  },
  {
    name: "sessions",
    group: LOOK,
    summary: "which there are, and how they stand",
    load: () => import("./commands/sessions.ts"),
  },
  {
    name: "memory",
    group: LOOK,
    summary: "blocks by operator and their holders; workers by kind of memory",
    load: () => import("./commands/memory.ts"),
  },
  {
    name: "oom",
    group: LOOK,
    summary: "why workers died and tasks ran out of memory, and what to do",
    load: () => import("./commands/oom.ts"),
  },
  {
    name: "logs",
    group: LOOK,
    summary: "what workers have written",
    load: () => import("./commands/logs.ts"),
  },
  {
    name: "profile",
    group: LOOK,
    summary: "a heap profile of a worker",
    load: () => import("./commands/profile.ts"),
  },
  {
    name: "flamegraph",
    group: LOOK,
    summary: "a heap profile as one HTML file",
    load: () => import("./commands/flamegraph.ts"),
  },
  {
    name: "report",
    group: LOOK,
    summary: "the whole session as one HTML file",
    load: () => import("./commands/report.ts"),
  },
  {
    name: "trace",
    group: LOOK,
    summary: "the task stream for Perfetto and speedscope",
    load: () => import("./commands/trace.ts"),
  },
  {
    name: "info",
    group: HERE,
    summary: "what a session here would have: workers, memory, directories",
    takesSettings: true,
    load: () => import("./commands/info.ts"),
  },
  {
    name: "config",
    group: HERE,
    summary: "every setting, its value in force, and where that came from",
    takesSettings: true,
    load: () => import("./commands/config.ts"),
  },
  {
    name: "doctor",
    group: HERE,
    summary: "what is wrong with this machine, and what to do about it",
    takesSettings: true,
    load: () => import("./commands/doctor.ts"),
  },
  {
    name: "completion",
    group: HERE,
    summary: "a script that completes commands and options in your shell",
    load: () => import("./commands/completion.ts"),
  },
];

export function commandNamed(name: string): CommandEntry | undefined {
  return COMMANDS.find((entry) => entry.name === name);
}
