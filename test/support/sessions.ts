/**
 * Real sessions for tests, and the check that each leaves nothing behind: after the test file there is no process, no
 * shared memory, and no session directory of any session that it started.
 */
import { mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { type Session, type SessionOptions, session } from "spillway";
import { afterAll, expect } from "vitest";
import { temporaryDirectory } from "./temporary.ts";

export interface TestSessions {
  /** A directory for the test's own files. */
  readonly directory: string;
  readonly stateDirectory: string;
  readonly localDirectory: string;
  open(options?: SessionOptions): Session;
}

/** Call once at the top of a test file. */
export function testSessions(name: string): TestSessions {
  const directory = temporaryDirectory(name);
  const localDirectory = join(directory, "local");
  const stateHome = join(directory, "state");
  mkdirSync(localDirectory);
  mkdirSync(stateHome);
  process.env.XDG_STATE_HOME = stateHome;
  const stateDirectory = join(stateHome, "spillway");
  const opened: Session[] = [];
  afterAll(async () => {
    for (const one of opened) await one.close();
    expect(await leftovers(localDirectory, sessionNames(stateDirectory))).toEqual([]);
  });
  return {
    directory,
    stateDirectory,
    localDirectory,
    open(options = {}) {
      const one = session({ localDirectory, progress: false, workers: 2, objectStoreMemory: "512 MiB", ...options });
      opened.push(one);
      return one;
    },
  };
}

/** The name of the session that was started last. */
export function lastSession({ stateDirectory }: Pick<TestSessions, "stateDirectory">): string {
  return basename(readlinkSync(join(stateDirectory, "latest")));
}

export function sessionNames(stateDirectory: string): string[] {
  try {
    return readdirSync(stateDirectory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

/** What remains of these sessions, checked until nothing remains or ten seconds have passed. */
export async function leftovers(localDirectory: string, names: readonly string[]): Promise<string[]> {
  for (let tries = 0; ; tries++) {
    const found = [...sessionFiles(localDirectory), ...sharedMemory(names), ...processes(names)];
    if (found.length === 0 || tries === 200) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function sessionFiles(localDirectory: string): string[] {
  return directoriesIn(localDirectory).flatMap((user) => [
    `directory ${user}`,
    ...directoriesIn(join(localDirectory, user)).map((name) => `directory ${join(user, name)}`),
  ]);
}

/** A session that is just ending removes them. */
function directoriesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function sharedMemory(names: readonly string[]): string[] {
  return readdirSync("/dev/shm")
    .filter((file) => names.some((name) => file.includes(name)))
    .map((file) => `shared memory ${file}`);
}

/** Processes that name one of the sessions in their command line. */
export function processes(names: readonly string[]): string[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      const line = commandLine(pid);
      return names.some((name) => line.includes(name)) ? [`process ${pid}: ${line}`] : [];
    });
}

/** Pids of a session's workers. */
export function workerPids(name: string): number[] {
  return pidsOf(name, "worker/main.js");
}

/** The pid of a session's supervisor, which must be running. */
export function supervisorPid(name: string): number {
  const [pid] = pidsOf(name, "supervisor/main.js");
  if (pid === undefined) throw new Error(`session ${name} has no supervisor process`);
  return pid;
}

function pidsOf(name: string, program: string): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => commandLine(pid).includes(name) && commandLine(pid).includes(program))
    .map(Number);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    // The process ended between the listing and the read.
    return "";
  }
}
