/**
 * Checks the packed files that a task's SQL reads, while the kernel reads them: the task is done when they are known to
 * be complete. A complete file is not checked again as long as it stays the same.
 */
import { stat } from "node:fs/promises";
import { SourceError } from "../errors/index.ts";
import type { PackedFile } from "../protocol/index.ts";
import { packedFault } from "../text/index.ts";

const MOST_KNOWN = 10_000;
/** From the path to the file's size and time. */
const known = new Map<string, string>();

export class PackedFiles {
  readonly #abort = new AbortController();
  readonly #fault: Promise<SourceError | null>;

  constructor(
    private readonly operator: string,
    files: readonly PackedFile[],
  ) {
    this.#fault = this.#look(files);
    // The result is asked for at the end; this handler keeps a failure from being reported as unhandled until then.
    this.#fault.catch(() => {});
  }

  /** Called when the kernel has read them. */
  async check(): Promise<void> {
    const fault = await this.#fault;
    if (fault !== null) throw fault;
  }

  /** The result is of no interest any more. */
  close(): void {
    this.#abort.abort();
  }

  async #look(files: readonly PackedFile[]): Promise<SourceError | null> {
    for (const file of files) {
      if (this.#abort.signal.aborted) return null;
      const { size, mtimeMs, ino } = await stat(file.path);
      const state = `${size} ${mtimeMs} ${ino} ${file.refusedLine}`;
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
