/**
 * Jobs that memory is too small for, and how each must end. The programs (programs/survive.ts, peers/survive.py) know a
 * job by its name. If no engine could give an answer, an error that reaches the program is the right end.
 */
import type { Answer } from "../workload.ts";

export interface SurviveJob {
  readonly name: string;
  readonly title: string;
  readonly workers: number;
  /** Null: there is no answer, because it takes more memory than there is. */
  readonly answer: Answer | null;
  /** Rows of the Parquet files that the job reads; 0: it reads none. */
  readonly rows: number;
  /** The answer is this query over the files that it wrote; `{written}` stands for a glob of them. */
  readonly answerOfFiles?: string;
  readonly timeoutSeconds: number;
}

/** What a program gets, as JSON, in its last argument. */
export interface SurviveAssignment {
  readonly name: string;
  readonly workers: number;
  readonly files: readonly string[];
  readonly written: string;
}

const sumBelow = (rows: number): number => (rows * (rows - 1)) / 2;
const LIMIT = 120;
const LONG_LIMIT = 300;

const ORDERED_FILES = `
  SELECT count(*) AS rows, sum(id)::DOUBLE AS ids, coalesce(sum(wrong), 0)::DOUBLE AS misplaced FROM (
    SELECT id, (key < lag(key) OVER (PARTITION BY filename ORDER BY file_row_number))::INTEGER AS wrong
    FROM read_parquet('{written}', filename = true, file_row_number = true))`;

/** Sort and join have this many rows of a kibibyte. */
export function surviveJobs(rows: number, cores: number): readonly SurviveJob[] {
  const common = { workers: cores, rows: 0, timeoutSeconds: LIMIT };
  return [
    { ...common, name: "batches", title: "300 MB allocated for each batch", answer: { sum: sumBelow(64) } },
    { ...common, name: "leak", title: "1 MB leaked by each of 3,000 calls", answer: { sum: sumBelow(3_000) } },
    { ...common, name: "explode", title: "one row of 1,000 becomes 2 GB", answer: null },
    {
      ...common,
      name: "together",
      title: "8 workers, each task takes 200 MB",
      workers: 8,
      answer: { sum: sumBelow(32) },
    },
    { ...common, name: "buffers", title: "native buffers without end", answer: null },
    { ...common, name: "objects", title: "objects on the heap without end", answer: null },
    { ...common, name: "child", title: "a child process that grows without end", answer: null },
    {
      ...common,
      name: "two",
      title: "two jobs at once: 300 MB for each batch, and 2 GB of rows",
      answer: { batches: sumBelow(64), texts: 2e9 },
    },
    {
      ...common,
      name: "sort",
      title: `${gibibytes(rows)} of rows sorted and written`,
      answer: { rows, ids: sumBelow(rows), misplaced: 0 },
      rows,
      answerOfFiles: ORDERED_FILES,
      timeoutSeconds: LONG_LIMIT,
    },
    {
      ...common,
      name: "join",
      title: `two inputs joined, ${gibibytes(rows)} of rows together`,
      answer: { rows: rows / 2, ids: sumBelow(rows / 2), equal: 0 },
      rows,
      timeoutSeconds: LONG_LIMIT,
    },
  ];
}

function gibibytes(rows: number): string {
  return `${Number((rows / 2 ** 20).toFixed(1))} GiB`;
}
