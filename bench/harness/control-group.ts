/**
 * A control group for a single run: made, entered, removed. Knows no controller: box.ts sets a memory limit on a group,
 * cpu-group.ts reads a group's CPU time.
 */
import { mkdir, readFile, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export interface ControlGroup {
  readonly path: string;
  /** The command that runs `command` inside. `first` is shell text that runs before it, such as `mount … && `. */
  enter(command: readonly string[], first?: string): string[];
  /** Ends the processes inside, which only the user of the group can have started, and removes the group. */
  remove(): Promise<void>;
}

/** Charges and dead processes remain for a moment after the last process has ended. */
const REMOVE_TRIES = 600;
const REMOVE_PAUSE_MS = 50;

let made = 0;

/** Below `root`, where a controller is mounted. `kind` is a part of the group's name. */
export async function makeGroup(root: string, kind: string): Promise<ControlGroup> {
  made += 1;
  const path = join(root, `spillway-${kind}-${process.pid}-${made}`);
  await mkdir(path);
  return {
    path,
    enter: (command, first = "") => [
      "/bin/sh",
      "-c",
      `echo $$ > '${path}/cgroup.procs' && ${first}exec "$@"`,
      kind,
      ...command,
    ],
    remove: () => remove(path),
  };
}

/** Why `make` fails here; null if it returns a group, which is removed again. */
export async function whyNoGroup(make: () => Promise<Pick<ControlGroup, "remove">>): Promise<string | null> {
  try {
    await (await make()).remove();
    return null;
  } catch (error) {
    const { message, cause } = error as Error;
    return cause instanceof Error ? `${message} (${cause.message})` : message;
  }
}

async function remove(path: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    for (const pid of (await readFile(join(path, "cgroup.procs"), "utf8")).split("\n").filter(Boolean))
      end(Number(pid));
    try {
      await rmdir(path);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EBUSY" || tries === REMOVE_TRIES) throw error;
      await pause(REMOVE_PAUSE_MS);
    }
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    // The process ended first.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
