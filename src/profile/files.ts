/** The profile files in a session's state directory: naming, writing and listing. */
import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, readdirSync, readSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROFILES } from "../protocol/index.ts";
import { codeOf } from "../realm/index.ts";
import type { ProfileFile, ProfileHeader, ProfileKind } from "./format.ts";

const ENDING = ".heapprofile";
/** Characters of a label; a file's name may have 255. */
const LONGEST = 80;
/** Bytes read to find the header, which is the first line. */
const HEADER = 4096;

/** A label always gets the same name, and different labels get different names. */
export function fileName(kind: ProfileKind, label: string, worker: number): string {
  const plain = label.replaceAll(/[^\w.-]+/g, "_").slice(0, LONGEST);
  const mark = plain === label ? "" : `-${createHash("sha256").update(label).digest("hex").slice(0, 6)}`;
  return `${kind}-${plain}${mark}.worker-${worker}${ENDING}`;
}

/** Writes under another name and renames, so that a process that dies leaves the previous file whole. */
export function writeProfile(path: string, { spillway, ...rest }: ProfileFile): void {
  const text = `{"spillway":${JSON.stringify(spillway)},\n${JSON.stringify(rest).slice(1)}`;
  mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

interface ListedProfile {
  readonly name: string;
  readonly bytes: number;
  readonly modified: number;
  readonly worker: number | null;
  /** For an operator's profile, the operator's functions. */
  readonly operator: string | null;
  /** Null for a file of another program. */
  readonly header: ProfileHeader | null;
}

/** The newest first; empty without the directory. */
export function listProfiles(stateDirectory: string): readonly ListedProfile[] {
  const directory = join(stateDirectory, PROFILES);
  let names: readonly string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
  return names
    .filter((name) => name.endsWith(ENDING))
    .map((name) => listed(directory, name))
    .sort((a, b) => b.modified - a.modified);
}

function listed(directory: string, name: string): ListedProfile {
  const path = join(directory, name);
  const { size, mtimeMs } = statSync(path);
  const header = headerOf(path);
  const worker = header?.worker ?? null;
  const operator = header?.kind === "operator" ? header.title : null;
  return { name, bytes: size, modified: mtimeMs, worker, operator, header };
}

function headerOf(path: string): ProfileHeader | null {
  const fd = openSync(path, "r");
  try {
    const start = Buffer.alloc(HEADER);
    const text = start.toString("utf8", 0, readSync(fd, start, 0, HEADER, 0));
    const [, json = null] = /^\{"spillway":(.*),\n/.exec(text) ?? [];
    const header: unknown = json === null ? null : JSON.parse(json);
    return isHeader(header) ? header : null;
  } finally {
    closeSync(fd);
  }
}

export function isHeader(value: unknown): value is ProfileHeader {
  if (typeof value !== "object" || value === null) return false;
  return "title" in value && typeof value.title === "string" && "worker" in value && typeof value.worker === "number";
}
