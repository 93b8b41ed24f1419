/**
 * What lies in a directory that is written to: data, which an overwrite may replace, and what is somebody else's.
 * Goes by names and kinds of entries alone, and follows no links. Which files a write has made is told by their names:
 * a list of them in the directory could be edited, copied or lost, and names cannot.
 */
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isHidden, isHiddenFolder, isPartitionFolder } from "./hidden.ts";

/** `part-<task>-<job>-<number>…`, as tasks name their files. */
const OWN_FILE = /^part-[0-9]{5,}-[0-9a-f]{8}(-[0-9]+)+\.(parquet|csv|json|arrow)(\.gz|\.zst)?$/;
/** Of formats that are hardly ever anything but data; a JSON or CSV file may be anything. */
const DATA_EXTENSION: Readonly<Record<string, string>> = { parquet: ".parquet", arrow: ".arrow" };
/** Files of jobs that are being written, or were when their session was killed. */
const STAGING = /^\.spillway-[0-9a-f]{8}(\.replaced)?$/;

export interface DatasetTree {
  /** Relative paths of the files that an overwrite replaces. */
  readonly replaced: readonly string[];
  /** Marks of other writers (`_SUCCESS`, checksums), which stay. */
  readonly kept: readonly string[];
  /** Directories, without the outermost one, each after the one that it is in. */
  readonly folders: readonly string[];
  /** Other jobs stage files in it. */
  readonly isShared: boolean;
  /** The first entry that no write of this format has made; the rest has not been looked at. */
  readonly foreign: string | null;
}

/**
 * Beside or in the directory that the job writes to. Bears no name of the user's: that could be too long, or a
 * partition.
 */
export function stagingName(job: string): string {
  return `.spillway-${job}`;
}

export async function surveyTree(directory: string, format: string): Promise<DatasetTree> {
  const survey = new Survey(directory, format);
  await survey.look("", false);
  return survey;
}

/** Why a directory that has something foreign in it is not overwritten. */
export function refusedOverwrite(directory: string, foreign: string): string {
  return (
    `mode "overwrite" is refused: ${directory} contains an entry that no write of this format has made: ${foreign}. ` +
    "Nothing was changed. Write to a directory of its own."
  );
}

/** Why mode "error" does not write to a directory. It leads nobody to overwrite what is not data. */
export async function hasDataAlready(directory: string, data: string, format: string): Promise<string> {
  const { foreign } = await surveyTree(directory, format);
  const otherwise = foreign === null ? ', or use mode "overwrite" or "append"' : "";
  return `${directory} already has data (${foreign ?? data}). Write to another directory${otherwise}.`;
}

/** The first file that a reader of the directory would take for data; null: none. */
export async function firstData(directory: string, below = ""): Promise<string | null> {
  for (const entry of await entriesOf(join(directory, below))) {
    const path = join(below, entry.name);
    if (entry.isDirectory()) {
      const found = isHiddenFolder(entry.name) ? null : await firstData(directory, path);
      if (found !== null) return found;
    } else if (!isHidden(entry.name)) return path;
  }
  return null;
}

class Survey implements DatasetTree {
  readonly replaced: string[] = [];
  readonly kept: string[] = [];
  readonly folders: string[] = [];
  isShared = false;
  foreign: string | null = null;

  constructor(
    private readonly directory: string,
    private readonly format: string,
  ) {}

  /** `isForeign`: in a folder that no write has made. */
  async look(below: string, isForeign: boolean): Promise<void> {
    const entries = await entriesOf(join(this.directory, below));
    // A folder that a write has made has something in it.
    if (entries.length === 0 && isForeign) this.foreign = below;
    for (const entry of entries) {
      if (this.foreign !== null) return;
      const path = join(below, entry.name);
      if (!entry.isDirectory()) this.#file(entry, path, isForeign);
      else if (below === "" && STAGING.test(entry.name)) this.isShared = true;
      else {
        this.folders.push(path);
        await this.look(path, isForeign || !isPartitionFolder(entry.name));
      }
    }
  }

  #file(entry: Dirent, path: string, isForeign: boolean): void {
    const { name } = entry;
    if (isForeign || !entry.isFile()) this.foreign = path;
    else if (OWN_FILE.test(name) || this.#isPartitionData(name, path)) this.replaced.push(path);
    else if (name === "_SUCCESS" || /^\..+\.crc$/.test(name)) this.kept.push(path);
    else this.foreign = path;
  }

  /** As other engines name it. */
  #isPartitionData(name: string, path: string): boolean {
    const extension = DATA_EXTENSION[this.format];
    const isData = extension !== undefined && name.endsWith(extension) && !isHidden(name);
    return isData && (name.startsWith("part-") || path !== name);
  }
}

async function entriesOf(directory: string): Promise<readonly Dirent[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
