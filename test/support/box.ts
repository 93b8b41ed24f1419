/**
 * Runs a program of test/boxed/programs in a memory box: a real control group, in which the system kills processes that
 * outgrow it. `boxed` is `describe` where boxes can be made (root, a writable memory controller).
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { type BoxPeaks, makeBox, whyNoBox } from "../../bench/harness/box.ts";
import { requires } from "./requires.ts";
import { leftovers, sessionNames } from "./sessions.ts";

export interface BoxedRun extends BoxPeaks {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const PROGRAMS = fileURLToPath(new URL("../boxed/programs/", import.meta.url));
/** No program is this slow, even on a busy machine: it hangs. */
const TIMEOUT_MS = 280_000;

const boxes = requires("a memory box", await whyNoBox());

/** The time limit fits the slowest program, and is a little longer than the programs' own. */
export function boxed(name: string, tests: () => void): void {
  boxes.describe(name, { timeout: TIMEOUT_MS + 20_000 }, tests);
}

/** The program gets a directory of its own as its argument, and must leave no session behind. */
export async function runInBox(limit: number, program: string, ...args: readonly string[]): Promise<BoxedRun> {
  const directory = mkdtempSync(join(tmpdir(), "spillway-test-box-"));
  const local = join(directory, "local");
  const state = join(directory, "state");
  mkdirSync(local);
  mkdirSync(state);
  const box = await makeBox(limit);
  try {
    const [file = "", ...rest] = box.enter([process.execPath, join(PROGRAMS, `${program}.mjs`), directory, ...args]);
    const child = spawn(file, rest, {
      env: { ...process.env, TMPDIR: local, XDG_STATE_HOME: state },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    const peaks = box.watch();
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (piece: Buffer) => {
      stdout += piece;
    });
    child.stderr.on("data", (piece: Buffer) => {
      stderr += piece;
    });
    await once(child, "close");
    const run = { exitCode: child.exitCode, stdout, stderr, ...(await peaks()) };
    expect(await leftovers(local, sessionNames(join(state, "spillway")))).toEqual([]);
    return run;
  } finally {
    await box.remove();
    rmSync(directory, { recursive: true, force: true });
  }
}
