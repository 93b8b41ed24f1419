/**
 * Another user of the machine, for tests of what one user may do to another. Needs root, which alone can become another
 * user.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Missing } from "./requires.ts";

/** "nobody" on most systems; the user need not have a name. */
export const SECOND_USER = 65534;

export const noSecondUser: Missing =
  process.getuid?.() === 0 && process.platform === "linux" ? null : "only root can run a program as somebody else";

/** Runs a script in a process of the second user and returns what it prints. */
export async function asSecondUser(script: string, ...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", script, ...args], {
    uid: SECOND_USER,
    gid: SECOND_USER,
    cwd: "/",
    env: { PATH: process.env.PATH ?? "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stdout.on("data", (piece: Buffer) => {
    output += piece;
  });
  child.stderr.on("data", (piece: Buffer) => {
    errors += piece;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`the second user's script ended with code ${code}: ${errors}`);
  return output;
}

/** Makes this process the second user while `run` runs; files that it makes belong to that user. */
export async function beingSecondUser<Result>(run: () => Promise<Result>): Promise<Result> {
  process.setegid?.(SECOND_USER);
  process.seteuid?.(SECOND_USER);
  try {
    return await run();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}
