/**
 * The session's directory, and that it leaves no trace: it is made with what is missing above it, made again where somebody cleared it
 * away, and removed at the end together with what was not there before.
 */
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { toWire } from "../errors/index.ts";
import { type SupervisorOptions, sessionDirectory, sessionsDirectory } from "./options.ts";
import { firstDirectory, makeSessionDirectory, removeEmptyDirectories } from "./session-files.ts";

export class OwnDirectory {
  readonly path: string;
  readonly #localDirectory: string;
  readonly #localDirectories: readonly string[];
  #outermostMade: string | null;

  constructor(options: Pick<SupervisorOptions, "localDirectory" | "localDirectories" | "session">) {
    this.path = sessionDirectory(options);
    this.#localDirectory = options.localDirectory;
    this.#localDirectories = options.localDirectories;
    this.#outermostMade = firstDirectory(this.path, options.localDirectory);
  }

  /** For a later session. A disk that is full or gone is no reason to end this one; the log has it. */
  note(write: () => void): void {
    try {
      const made = makeSessionDirectory(this.path);
      if (made !== null && made.length < (this.#outermostMade?.length ?? Number.POSITIVE_INFINITY)) {
        this.#outermostMade = made;
      }
      write();
    } catch (error) {
      process.stderr.write(`${toWire(error).message}\n`);
    }
  }

  /**
   * And what is above it: `spillway-<uid>`, as long as other sessions have nothing there, and a local directory that was not there
   * before, unless others use it now.
   */
  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
    for (const other of this.#localDirectories) removeEmptyDirectories(sessionsDirectory(other));
    const local = resolve(this.#localDirectory);
    const made = this.#outermostMade;
    if (made !== null && local.startsWith(resolve(made))) removeEmptyDirectories(local, resolve(made));
  }
}
