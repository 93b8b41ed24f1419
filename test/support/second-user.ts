/** Another user of the machine, for tests of what one may do to the other. Needs root: only that becomes somebody else. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Missing } from "./requires.ts";

/** "nobody" on most systems; it need not have a name. */
export const SECOND_USER = 65534;

export const noSecondUser: Missing =
  process.getuid?.() === 0 && process.platform === "linux" ? null : "only root can run a program as somebody else";

/** Runs a script in a process of the second user and gives what it prints. */
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

/** This process is the second user while `run` runs; files that it makes are that user's. */
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
