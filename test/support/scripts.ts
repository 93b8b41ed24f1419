/** Programs of a user, each as a process of its own. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface ScriptRun {
  readonly pid: number;
  readonly ended: Promise<{ code: number | null; output: string }>;
  /** Resolves when the script has printed this. */
  printed(text: string): Promise<void>;
}

/** Its sessions make their files where those of the test do. */
export function runScript(
  { directory, localDirectory }: { readonly directory: string; readonly localDirectory: string },
  name: string,
  source: string,
): ScriptRun {
  const path = join(directory, `${name}.mjs`);
  writeFileSync(path, source.replaceAll('"spillway"', JSON.stringify(import.meta.resolve("spillway"))));
  const child = spawn(process.execPath, [path], {
    env: { ...process.env, TMPDIR: localDirectory },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const waiting: { text: string; resolve(): void }[] = [];
  const hear = (piece: Buffer) => {
    output += piece;
    for (const one of waiting) if (output.includes(one.text)) one.resolve();
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  return {
    pid: child.pid ?? 0,
    ended: new Promise((resolve) => child.on("close", (code) => resolve({ code, output }))),
    printed: (text) =>
      new Promise((resolve) => {
        if (output.includes(text)) resolve();
        else waiting.push({ text, resolve });
      }),
  };
}
