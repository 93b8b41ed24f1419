/**
 * The packed files that a task's SQL reads, looked at while the kernel reads them: the task is done when they are found
 * whole. A file that was found whole is not looked at again as long as it does not change.
 */
import { stat } from "node:fs/promises";
import { SourceError } from "../errors/index.ts";
import type { PackedFile } from "../protocol/index.ts";
import { packedFault } from "../text/index.ts";

const MOST_KNOWN = 10_000;
/** Path to what its size and time were. */
const known = new Map<string, string>();

export class PackedFiles {
  readonly #abort = new AbortController();
  readonly #fault: Promise<SourceError | null>;

  constructor(
    private readonly operator: string,
    files: readonly PackedFile[],
  ) {
    this.#fault = this.#look(files);
    // Asked for at the end; until then nobody listens.
    this.#fault.catch(() => {});
  }

  /** Once the kernel has read them. */
  async check(): Promise<void> {
    const fault = await this.#fault;
    if (fault !== null) throw fault;
  }

  /** Nobody wants to know any more. */
  close(): void {
    this.#abort.abort();
  }

  async #look(files: readonly PackedFile[]): Promise<SourceError | null> {
    for (const file of files) {
      if (this.#abort.signal.aborted) return null;
      const { size, mtimeMs, ino } = await stat(file.path);
      const state = `${size} ${mtimeMs} ${ino}`;
      if (known.get(file.path) === state) continue;
      const fault = await packedFault(file, this.#abort.signal);
      if (fault !== null) return new SourceError(`${this.operator}: ${file.path} cannot be read: ${fault}.`, file.path);
      if (!this.#abort.signal.aborted) remember(file.path, state);
    }
    return null;
  }
}

function remember(path: string, state: string): void {
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(path, state);
}
