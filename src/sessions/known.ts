/**
 * Finds sessions by their log directories. A session's name begins with its start time, so sorting by name sorts by
 * time.
 */
import { readdirSync, readlinkSync, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { OptionError } from "../errors/index.ts";
import { hasEnded, hasEvents, isReadable } from "../events/index.ts";
import { statePlace } from "../session/state-root.ts";
import { isAlive, readAttachment, readOwner } from "../supervisor/index.ts";
import { nearest } from "../units/index.ts";

/** "killed": the supervisor ended without closing the session. */
type SessionStatus = "running" | "ended" | "killed";

export interface KnownSession {
  readonly name: string;
  /** The directory with the session's logs and event file. */
  readonly directory: string;
  readonly status: SessionStatus;
  /** False when another version of Spillway wrote its events: only that version can open the session. */
  readonly isReadable: boolean;
  /** Null when the name holds no time. */
  readonly startedAt: Date | null;
  /** Pid of the supervisor; null when it is unknown. */
  readonly supervisor: number | null;
  /** The dashboard's address with its token; null when the session does not run, or has no dashboard. */
  readonly dashboard: string | null;
}

const LATEST = "latest";
/** The beginning of a session's name, such as 20260131T235959-… */
const STAMP = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})-/;
/** The most names that an error lists. */
const LISTED = 5;

/** The directory with the logs of all sessions of this user. */
export function sessionsRoot(): string {
  return statePlace().root;
}

/** Newest first. */
export function listSessions(root = sessionsRoot()): readonly KnownSession[] {
  return namesIn(root)
    .map((name) => known(join(root, name)))
    .reverse();
}

/**
 * Finds one session. `wanted` is a session's name, the beginning of a name, `latest`, or a session's log directory.
 * Without `wanted`, the result is the newest running session, or else the newest session.
 */
export function findSession(wanted?: string, root = sessionsRoot()): KnownSession {
  if (wanted?.includes(sep) === true) return atPath(wanted);
  const names = namesIn(root);
  if (wanted === undefined) return newest(root, names);
  if (wanted === LATEST) return known(join(root, latestIn(root, names)));
  const found = names.includes(wanted) ? [wanted] : names.filter((name) => name.startsWith(wanted));
  const [only, ...more] = found;
  if (only === undefined) throw unknownSession(wanted, root, names);
  if (more.length === 0) return known(join(root, only));
  throw new OptionError(
    `${found.length} sessions have a name that begins with "${wanted}": ${found.slice(-LISTED).join(", ")}. Give more of the name.`,
  );
}

function newest(root: string, names: readonly string[]): KnownSession {
  let last: KnownSession | null = null;
  for (const name of names.toReversed()) {
    const session = known(join(root, name));
    if (session.status === "running") return session;
    last ??= session;
  }
  if (last !== null) return last;
  throw new OptionError(`There are no sessions in ${root}: run a program that uses Spillway first.`);
}

function atPath(path: string): KnownSession {
  const directory = resolve(path);
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new OptionError(`${path} is no directory: give the name of a session, or the directory with its logs.`);
  }
  const isLink = basename(directory) === LATEST;
  const session = isLink ? join(dirname(directory), readlinkSync(directory)) : directory;
  if (readOwner(session) === null && !hasEvents(session)) {
    throw new OptionError(
      `${path} has no logs of a session: give the name of a session, or the directory with its logs.`,
    );
  }
  return known(session);
}

function latestIn(root: string, names: readonly string[]): string {
  try {
    return basename(readlinkSync(join(root, LATEST)));
  } catch {
    const last = names.at(-1);
    if (last === undefined) throw unknownSession(LATEST, root, names);
    return last;
  }
}

function unknownSession(wanted: string, root: string, names: readonly string[]): OptionError {
  const near = nearest(wanted, names);
  const meant = near === null ? "" : ` Did you mean ${near}?`;
  const there =
    names.length === 0 ? "There are none yet." : `The newest are ${names.slice(-LISTED).toReversed().join(", ")}.`;
  return new OptionError(`There is no session "${wanted}" in ${root}.${meant} ${there}`);
}

function known(directory: string): KnownSession {
  const name = basename(directory);
  const owner = readOwner(directory);
  const runs = owner !== null && isAlive(owner);
  const attachment = runs ? readAttachment(directory) : null;
  return {
    name,
    directory,
    // A closing session has already removed its attachment, and its last event may not have reached the file yet.
    status: attachment !== null ? "running" : hasEnded(directory) || runs ? "ended" : "killed",
    isReadable: isReadable(directory),
    startedAt: startOf(name),
    supervisor: owner?.pid ?? null,
    dashboard: attachment?.dashboard ?? null,
  };
}

function startOf(name: string): Date | null {
  const [, year, month, day, hour, minute, second] = STAMP.exec(name) ?? [];
  return year === undefined ? null : new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** A session that is just starting can neither be reached nor read. It would look like one that was killed. */
function hasBegun(directory: string): boolean {
  if (hasEvents(directory)) return true;
  const owner = readOwner(directory);
  return owner !== null && (!isAlive(owner) || readAttachment(directory) !== null);
}

function namesIn(root: string): readonly string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && hasBegun(join(root, entry.name)))
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
