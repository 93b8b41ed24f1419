/** pyarrow and Polars: a Python process that writes and reads files, one request at a time. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("peers.py", import.meta.url));

/** A peer says that it cannot do this. */
export class PeerError extends Error {
  override readonly name = "PeerError";
}

export class Peers {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #answers: AsyncIterator<string>;
  readonly #lines: Interface;
  #writings: readonly string[] | null = null;

  constructor(python: string) {
    this.#process = spawn(python, [PROGRAM], { stdio: "pipe" });
    this.#process.stderr.resume();
    this.#lines = createInterface({ input: this.#process.stdout });
    this.#answers = this.#lines[Symbol.asyncIterator]();
  }

  async call(name: string, given: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    this.#process.stdin.write(`${JSON.stringify({ call: name, with: given })}\n`);
    const { value, done } = await this.#answers.next();
    if (done === true) throw new Error(`the Python process ended during ${name}`);
    const answer: { ok?: unknown; error?: string } = JSON.parse(value);
    if (answer.error !== undefined) throw new PeerError(answer.error);
    return answer.ok;
  }

  /** Names of the ways in which Parquet files are written. */
  async writings(): Promise<readonly string[]> {
    const known = this.#writings ?? (await this.call("writings"));
    if (!Array.isArray(known)) throw new Error("the names of writings are a list");
    this.#writings = known;
    return known;
  }

  async close(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.stdin.end();
    await ended;
  }
}
