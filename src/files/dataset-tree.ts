/**
 * Lists the content of a directory that is written to: data, which an overwrite may replace, and foreign entries. Uses
 * only names and kinds of entries, and follows no links. Files of a write are recognised by their names: a list in the
 * directory could be edited, copied or lost.
 */
import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isHidden, isHiddenFolder, isPartitionFolder } from "./hidden.ts";

/** `part-<task>-<job>-<number>…`, as tasks name their files. */
const OWN_FILE = /^part-[0-9]{5,}-[0-9a-f]{8}(-[0-9]+)+\.(parquet|csv|json|arrow)(\.gz|\.zst)?$/;
/** Formats whose files are nearly always data; a JSON or CSV file may be anything. */
const DATA_EXTENSION: Readonly<Record<string, string>> = { parquet: ".parquet", arrow: ".arrow" };
/** Staging directories of jobs that run, or of a killed session. */
const STAGING = /^\.spillway-[0-9a-f]{8}(\.replaced)?$/;

export interface DatasetTree {
  /** Relative paths of the files that an overwrite replaces. */
  readonly replaced: readonly string[];
  /** Files of other writers (`_SUCCESS`, checksums), which stay. */
  readonly kept: readonly string[];
  /** Directories without the outermost one, each after its parent. */
  readonly folders: readonly string[];
  /** Whether other jobs stage files in it. */
  readonly isShared: boolean;
  /** The first entry that no write of this format has made; later entries have not been checked. */
  readonly foreign: string | null;
}

/** The name is independent of the user's directory, whose name could be too long, or a partition. */
export function stagingName(job: string): string {
  return `.spillway-${job}`;
}

export async function surveyTree(directory: string, format: string): Promise<DatasetTree> {
  const survey = new Survey(directory, format);
  await survey.look("", false);
  return survey;
}

/** The error for a directory with a foreign entry. */
export function refusedOverwrite(directory: string, foreign: string): string {
  return (
    `mode "overwrite" is refused: ${directory} contains an entry that no write of this format has made: ${foreign}. ` +
    "Nothing was changed. Write to a directory of its own."
  );
}

/** The error of mode "error". It proposes "overwrite" only for data. */
export async function hasDataAlready(directory: string, data: string, format: string): Promise<string> {
  const { foreign } = await surveyTree(directory, format);
  const otherwise = foreign === null ? ', or use mode "overwrite" or "append"' : "";
  return `${directory} already has data (${foreign ?? data}). Write to another directory${otherwise}.`;
}

/** The first file that a reader would take for data; null: none. */
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

  /** `isForeign`: the folder was not made by a write. */
  async look(below: string, isForeign: boolean): Promise<void> {
    const entries = await entriesOf(join(this.directory, below));
    // A folder that a write has made is never empty.
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

  /** Data files of partitions as other engines name them. */
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
