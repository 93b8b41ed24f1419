/**
 * The session's directories, one in each local directory, and that they leave no trace: they are made with what is
 * missing above them, made again where somebody cleared them away, and removed at the end together with what was not
 * there before.
 */
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { OptionError, toWire } from "../errors/index.ts";
import { makeDirectory, NotPrivate, PrivateDirectory, using } from "../files/index.ts";
import type { Notice } from "../protocol/index.ts";
import { checkSocketPath, type SupervisorOptions } from "./options.ts";
import { type Place, placeIn } from "./places.ts";
import { removeEmptyDirectories } from "./session-files.ts";

/** Another session may remove the empty parent at the same moment, or somebody take the place that was free. */
const TRIES = 10;

export class OwnDirectory {
  /** The first: of the socket, the record, the kernels' files. */
  readonly path: string;
  /** One in each local directory. */
  readonly spill: readonly string[];
  /** What the user should know about where it is. */
  readonly notices: readonly Notice[];
  readonly #session: string;
  readonly #localDirectory: string;
  readonly #places: readonly Place[];
  readonly #root: string;
  #outermostMade: string | null;

  constructor(options: Pick<SupervisorOptions, "localDirectory" | "localDirectories" | "session">) {
    const { localDirectory, localDirectories, session } = options;
    const { place, made } = firstPlace(localDirectory, session);
    this.#session = session;
    this.#localDirectory = localDirectory;
    this.#places = localDirectories.map((local) => (local === localDirectory ? place : placeIn(local)));
    this.#root = place.root;
    this.#outermostMade = made;
    this.path = join(place.root, session);
    this.spill = this.#places.map(({ root }) => join(root, session, "spill"));
    this.notices = this.#places.flatMap(({ notice }) => notice ?? []);
  }

  /** For a later session. A disk that is full or gone is no reason to end this one; the log has it. */
  note(write: (directory: string) => void): void {
    try {
      const made = makeIn(this.#root, this.#session, write);
      if (made !== null && made.length < (this.#outermostMade?.length ?? Number.POSITIVE_INFINITY)) {
        this.#outermostMade = made;
      }
    } catch (error) {
      process.stderr.write(`${toWire(error).message}\n`);
    }
  }

  /** Throws where one of the spill directories is no longer where only we can write. */
  check(spill: string): void {
    const place = this.#places[this.spill.indexOf(spill)];
    if (place !== undefined) {
      using(PrivateDirectory.open(place.root), (root) => using(root.inside(this.#session), () => {}));
    }
  }

  /**
   * And what is above it: the directory of sessions, as long as others have nothing there, and a local directory that
   * was not there before, unless others use it now.
   */
  remove(): void {
    this.#removeOwn();
    for (const { root } of this.#places) removeEmptyDirectories(root);
    const local = resolve(this.#localDirectory);
    const made = this.#outermostMade;
    if (made !== null && local.startsWith(resolve(made))) removeEmptyDirectories(local, resolve(made));
  }

  #removeOwn(): void {
    try {
      using(PrivateDirectory.open(this.#root), (root) =>
        rmSync(root.at(this.#session), { recursive: true, force: true }),
      );
    } catch (error) {
      // Cleared away by somebody, with all that was in it; anything else is worth a line in the log.
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") process.stderr.write(`${message}\n`);
    }
  }
}

/** Answers with the outermost directory that had to be made. */
function makeIn(root: string, session: string, use: (directory: string) => void): string | null {
  const made = makeDirectory(root, 0o700);
  try {
    using(PrivateDirectory.open(root), (opened) => using(opened.makeInside(session), (own) => use(own.at(""))));
  } catch (error) {
    // A file system may give all that is made to somebody else, or to everybody.
    if (made !== null && error instanceof NotPrivate) removeEmptyDirectories(root, made);
    throw error;
  }
  return made;
}

/** A directory that cannot be had is the user's to change. */
function firstPlace(localDirectory: string, session: string): { readonly place: Place; readonly made: string | null } {
  for (let tries = 1; ; tries++) {
    const place = placeIn(localDirectory);
    checkSocketPath(join(place.root, session), localDirectory);
    try {
      return { place, made: makeIn(place.root, session, () => {}) };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (tries < TRIES && (error instanceof NotPrivate || code === "ENOENT")) continue;
      throw new OptionError(
        `session: localDirectory ${localDirectory} cannot be used: ${message}. ` +
          "Choose a directory that can be written to.",
      );
    }
  }
}
