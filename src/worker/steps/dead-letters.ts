/**
 * Rows on which a function failed, one JSON object a line, in one file a task. The file is written next to its final
 * name and renamed when the task is done, so that a retried task leaves each row once.
 */
import { closeSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { WriteError } from "../../errors/index.ts";
import { makeDirectory } from "../../files/index.ts";
import { isMap, isUint8Array, messageOf } from "../../realm/index.ts";

const FLUSH_BYTES = 1 << 20;

export class DeadLetters {
  readonly #final: string;
  readonly #partial: string;
  #fd: number | null = null;
  #held: string[] = [];
  #heldBytes = 0;

  constructor(
    private readonly directory: string,
    name: string,
  ) {
    this.#final = join(directory, `${name}.jsonl`);
    this.#partial = join(directory, `.${name}.${process.pid}.partial`);
  }

  add(letter: Readonly<Record<string, unknown>>): void {
    const line = `${JSON.stringify(letter, plain)}\n`;
    this.#held.push(line);
    this.#heldBytes += line.length;
    if (this.#heldBytes > FLUSH_BYTES) this.#flush();
  }

  commit(): void {
    if (this.#held.length > 0) this.#flush();
    if (this.#fd === null) return;
    closeSync(this.#fd);
    this.#fd = null;
    renameSync(this.#partial, this.#final);
  }

  /** If the file was not committed, it is removed. */
  close(): void {
    if (this.#fd === null) return;
    closeSync(this.#fd);
    this.#fd = null;
    rmSync(this.#partial, { force: true });
  }

  #flush(): void {
    try {
      this.#fd ??= this.#open();
      const bytes = Buffer.from(this.#held.join(""));
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
    } catch (error) {
      const cause = messageOf(error);
      throw new WriteError(`Dead letters cannot be written to ${this.directory}: ${cause}.`, this.directory);
    }
    this.#held = [];
    this.#heldBytes = 0;
  }

  #open(): number {
    makeDirectory(this.directory);
    return openSync(this.#partial, "w");
  }
}

/** JSON for values that JSON cannot represent. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (isMap(value)) return Object.fromEntries(value);
  if (isUint8Array(value)) return Buffer.from(value).toString("base64");
  return value;
}
