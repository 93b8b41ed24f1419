/**
 * The session's directories, one in each local directory. Missing parents are made, too. Directories that were cleared
 * away are made again. At the end they are removed, together with the parents that were made.
 */
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { OptionError, toWire } from "../errors/index.ts";
import { makeDirectory, NotPrivate, PrivateDirectory, using } from "../files/index.ts";
import type { Notice } from "../protocol/index.ts";
import { checkSocketPath, type SupervisorOptions } from "./options.ts";
import { type Place, placeIn } from "./places.ts";
import { removeEmptyDirectories } from "./session-files.ts";

/** Another session may remove the empty parent at the same moment, or another user may take the name. */
const TRIES = 10;

export class OwnDirectory {
  /** The first directory: holds the socket, the record and the kernels' files. */
  readonly path: string;
  /** One directory in each local directory. */
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

  /** Writes a record for later sessions. A full or missing disk is only logged: it must not end this session. */
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

  /** Throws if other users could write to one of the spill directories. */
  check(spill: string): void {
    const place = this.#places[this.spill.indexOf(spill)];
    if (place !== undefined) {
      using(PrivateDirectory.open(place.root), (root) => using(root.inside(this.#session), () => {}));
    }
  }

  /**
   * Also removes parents: the directory of sessions if it is empty, and local directories that this session made,
   * unless others use them now.
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
      // A directory that was cleared away needs no message; other errors are logged.
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") process.stderr.write(`${message}\n`);
    }
  }
}

/** Returns the outermost directory that had to be made. */
function makeIn(root: string, session: string, use: (directory: string) => void): string | null {
  const made = makeDirectory(root, 0o700);
  try {
    using(PrivateDirectory.open(root), (opened) => using(opened.makeInside(session), (own) => use(own.at(""))));
  } catch (error) {
    // Some file systems give new directories to another user, or to everybody.
    if (made !== null && error instanceof NotPrivate) removeEmptyDirectories(root, made);
    throw error;
  }
  return made;
}

/** Throws an error for the user if the directory cannot be made. */
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
