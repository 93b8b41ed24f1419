/**
 * What the cases of a round share: the reference, sessions of each size and mode, directories, perhaps the Python
 * peers.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Session, session } from "spillway";
import { Reference } from "../end-to-end/differential/reference.ts";
import type { Peers } from "./peers.ts";

const KIB = 1024;
const BLOCKS = { targetMaxBlockSize: 16 * KIB, targetMinBlockSize: 4 * KIB };
export const SIZES = {
  roomy: { ...BLOCKS, workers: 2, objectStoreMemory: 256 * KIB * KIB },
  small: { ...BLOCKS, workers: 1, objectStoreMemory: 512 * KIB },
  usual: { workers: 2, objectStoreMemory: 256 * KIB * KIB, targetMaxBlockSize: 32 * KIB * KIB },
};
export type Size = keyof typeof SIZES;

export class World {
  readonly reference = new Reference();
  readonly #directory = mkdtempSync(join(tmpdir(), "hunt-"));
  readonly #sessions = new Map<string, Session>();
  #made = 0;
  #cleared = 0;

  constructor(readonly peers: Peers | null) {
    mkdirSync(join(this.#directory, "s"));
  }

  session(size: Size, exchange: boolean): Session {
    const name = `${size} ${exchange}`;
    const known =
      this.#sessions.get(name) ??
      session({
        ...SIZES[size],
        localDirectory: join(this.#directory, "s"),
        progress: false,
        preserveOrder: true,
        exchange,
      });
    this.#sessions.set(name, known);
    return known;
  }

  /**
   * A path that never was there, in a directory of its own: the kernel may keep what it read of a file for longer than
   * the file.
   */
  path(name: string): string {
    const directory = join(this.#directory, String(this.#made++));
    mkdirSync(directory);
    return join(directory, name);
  }

  /** What a case left. */
  clear(): void {
    this.reference.forgetTables();
    for (; this.#cleared < this.#made; this.#cleared++)
      rmSync(join(this.#directory, String(this.#cleared)), { recursive: true, force: true });
  }

  async close(): Promise<void> {
    for (const one of this.#sessions.values()) await one.close();
    this.reference.close();
    await this.peers?.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
