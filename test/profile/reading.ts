/** Profiles as tests look at them: sums by function and line. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ProfileFile, ProfileNode } from "../../src/profile/index.ts";

export function readProfile(path: string): ProfileFile {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** The profiles of the newest session. */
export function profilesIn(stateDirectory: string): readonly string[] {
  const directory = join(stateDirectory, "latest", "profiles");
  return readdirSync(directory).map((name) => join(directory, name));
}

export function viewOf({ head, views }: ProfileFile, name: string): ProfileNode {
  const found = name === "peak" ? head : views.find((view) => view.name === name)?.head;
  if (found === undefined) throw new Error(`there is no view "${name}"`);
  return found;
}

/** Bytes of nodes that match, each without those below it. */
export function bytesWhere(node: ProfileNode, matches: (node: ProfileNode) => boolean): number {
  const own = matches(node) ? node.selfSize : 0;
  return node.children.reduce((sum, child) => sum + bytesWhere(child, matches), own);
}

export function total(node: ProfileNode): number {
  return bytesWhere(node, () => true);
}

/** The number, from 0, of the first line that has the text. */
export function lineOf(file: string, text: string): number {
  const found = readFileSync(file, "utf8")
    .split("\n")
    .findIndex((line) => line.includes(text));
  if (found < 0) throw new Error(`${file} has no line with "${text}"`);
  return found;
}

/** Runs a user's TypeScript program; returns what it prints. */
export async function runScript(script: string, args: readonly string[], stateHome: string): Promise<string> {
  const env = { ...process.env, XDG_STATE_HOME: stateHome };
  const child = spawn(process.execPath, ["--import", "tsx", script, ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [printed, complained] = ["", ""];
  child.stdout.on("data", (piece: Buffer) => {
    printed += piece;
  });
  child.stderr.on("data", (piece: Buffer) => {
    complained += piece;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${script} ended with ${code}:\n${complained}`);
  return printed;
}
