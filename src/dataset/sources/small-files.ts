/**
 * Many small files. Opening a file takes the kernel as long as reading a thousand rows, so workers read such files
 * themselves, or join them into one file (`JoinedFiles`).
 */
import type { Bytes, InspectedRow, JoinedFiles, QuickQuestion } from "../../protocol/index.ts";
import { onSystemClock } from "../../units/index.ts";
import type { Engine } from "../engine.ts";
import { bytesOf, type SourceFile } from "./files.ts";
import { inspectFiles } from "./kept-facts.ts";
import { haveSameValues, type PartitionedFile } from "./partitions.ts";
import { TASKS_PER_WORKER } from "./splitting.ts";

/** From this many small files on, a task reads them itself if it can. */
const SEVERAL_FILES = 16;
/** This many files are read by tasks, not by the SQL of a query over all rows. */
const MANY_FILES = 256;
/** The most bytes of files that a task holds. */
const MOST_HELD: Bytes = 8 * 2 ** 20;

/** Whether one task should read these files itself: several small files of one partition folder. */
export function areHeldTogether(files: readonly PartitionedFile[], most: Bytes = MOST_HELD): boolean {
  return files.length >= SEVERAL_FILES && bytesOf(files) <= most && areInOneFolder(files);
}

/**
 * Whether tasks should read these files for a query over all rows: tasks are several times as fast as the query's own
 * SQL, and hand over the rows.
 */
export function areForTasks(files: readonly PartitionedFile[]): boolean {
  return files.length >= MANY_FILES && areHeldTogether(files, TASKS_PER_WORKER * MOST_HELD);
}

function areInOneFolder(files: readonly PartitionedFile[]): boolean {
  const [first] = files;
  return first === undefined || files.every((file) => haveSameValues(file, first));
}

/** Files in one question: a worker takes about a tenth of a second for them. */
const FILES_PER_QUESTION = 4096;
/** How new a content must be that a task takes from its worker. */
export function readSince(since: number | undefined): Pick<JoinedFiles, "since"> {
  return since === undefined ? {} : { since: onSystemClock(since) };
}

const NO_ROWS = "SELECT NULL WHERE false";

/** Whether one question can have all the files: a worker holds their content. */
export function fitOneQuestion(files: readonly SourceFile[]): boolean {
  return bytesOf(files) <= TASKS_PER_WORKER * MOST_HELD;
}

/**
 * Asks a question about bundles of files, and returns the answers in their order. Null when some of the files need the
 * ordinary question.
 */
export async function askQuickly<Answer>(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  largest: Bytes,
  question: (paths: readonly string[]) => QuickQuestion,
  answer: (rows: readonly InspectedRow[], files: readonly SourceFile[]) => Answer,
  bundles = bundlesOf(files),
): Promise<readonly Answer[] | null> {
  if (files.length < SEVERAL_FILES || files.some(({ bytes }) => bytes > largest)) return null;
  const answers = await Promise.all(
    bundles.map(async (some) => {
      const rows = await inspectFiles(engine, some, NO_ROWS, question(some.map(({ path }) => path)));
      return rows.length === 0 ? null : answer(rows, some);
    }),
  );
  const known = answers.filter((each) => each !== null);
  return known.length === answers.length ? known : null;
}

function bundlesOf(files: readonly SourceFile[]): readonly (readonly SourceFile[])[] {
  const bundles: SourceFile[][] = [];
  let held = 0;
  for (const file of files) {
    const last = bundles.at(-1);
    if (last === undefined || last.length === FILES_PER_QUESTION || held + file.bytes > MOST_HELD) {
      bundles.push([file]);
      held = file.bytes;
    } else {
      last.push(file);
      held += file.bytes;
    }
  }
  return bundles;
}
