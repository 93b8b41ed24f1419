/** The built command line, run as a user does. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { root } from "./tools.ts";

export const CLI = join(root, "dist/cli/main.js");

export interface Said {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Finds the sessions of the test: it has the test's environment. */
export function spillway(words: readonly string[], { cwd, env = {} }: Surroundings = {}): Said {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...words], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...env },
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  return { status, stdout, stderr };
}

/** Without waiting for its end. */
export function startSpillway(words: readonly string[], { cwd, env = {} }: Surroundings = {}): Running {
  const child = spawn(process.execPath, [CLI, ...words], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return new Running(child);
}

export class Running {
  #out = "";
  #err = "";
  readonly ended: Promise<Said & { readonly signal: NodeJS.Signals | null }>;

  constructor(readonly child: ChildProcess) {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#out += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#err += text;
    });
    this.ended = new Promise((resolve) => {
      child.once("close", (status, signal) => resolve({ status, signal, stdout: this.#out, stderr: this.#err }));
    });
  }

  /** What it has written to standard output so far. */
  get out(): string {
    return this.#out;
  }

  /** What it has written to standard error so far. */
  get err(): string {
    return this.#err;
  }

  /** Resolves when standard output has the text. */
  async said(text: string): Promise<void> {
    while (!this.#out.includes(text)) await this.#more(this.child.stdout, text);
  }

  /** Resolves when standard error has the text. */
  async warned(text: string): Promise<void> {
    while (!this.#err.includes(text)) await this.#more(this.child.stderr, text);
  }

  async #more(stream: Readable | null, text: string): Promise<void> {
    if (this.child.exitCode !== null) throw new Error(`It has ended, and never said ${text}: ${this.#out}${this.#err}`);
    await new Promise((resolve) => stream?.once("data", resolve));
  }
}
