/**
 * A control group of a run's own: made, entered, taken away. Knows no controller: box.ts sets a memory limit on a group,
 * cpu-group.ts reads the CPU time of a group.
 */
import { mkdir, readFile, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export interface ControlGroup {
  readonly path: string;
  /** The command that runs `command` inside. `first` is shell text that runs before it, such as `mount … && `. */
  enter(command: readonly string[], first?: string): string[];
  /** Ends what still runs inside, which nobody but its user can have started, and takes the group away. */
  remove(): Promise<void>;
}

/** Charges and dead processes linger a moment after the last one has ended. */
const REMOVE_TRIES = 600;
const REMOVE_PAUSE_MS = 50;

let made = 0;

/** Below `root`, which is where a controller is mounted. `kind` is a part of its name. */
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

/** Why `make` fails here; null where it gives a group, which is removed again. */
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
    // It was faster.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
