/**
 * The vocabulary of the benchmark. A workload is one piece of work at one scale that several engines do; `workloads/`
 * holds one per file. Its program for an engine is found by the program's name: `programs/<name>.ts` for Spillway,
 * `programs/<name>.duckdb.ts` for DuckDB, `peers/<name with underscores>.py` for the Python engines.
 *
 *   run      one fresh process of one engine doing the work once, after a warm-up on a thousand rows
 *   answer   what the run computed; engines must agree on it
 *   figure   a number about our own run, such as a worker's peak memory
 *   box      a memory limit that the system enforces on the run
 *   unboxed  our engine without the workload's box, to show what the box costs
 */
import type { MadeTables, TableName } from "./data/index.ts";

export const ENGINE_NAMES = ["spillway", "unboxed", "duckdb", "daft", "daft-processes", "ray", "dask"] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];
export type PeerName = Exclude<EngineName, "spillway">;
export type PythonEngine = Exclude<PeerName, "duckdb" | "unboxed">;

export type Bytes = number;

export type Figure =
  | "seconds"
  | "millisecondsPerTask"
  | "workerPrivate"
  | "workerResident"
  | "supervisorResident"
  | "programPrivate"
  | "boxHeld"
  | "boxCharged"
  | "boxKills";

export type Target =
  /** The peer takes at least `times` as long as we do. */
  | { readonly kind: "faster"; readonly than: PeerName; readonly times: number }
  /** We take at most `factor` times as long as the peer. */
  | { readonly kind: "within"; readonly of: PeerName; readonly factor: number }
  | { readonly kind: "below"; readonly figure: Figure; readonly limit: number };

export interface Workload {
  readonly name: string;
  /** Workloads with the same group can be chosen together in `--only`, by this name. */
  readonly group?: string;
  /** The program that does it, if its name differs from the workload's. */
  readonly program?: string;
  /** One line that says what is done. */
  readonly title: string;
  /** Rows of lineitem (or the number of units that the work consists of). */
  readonly rows: number;
  /** `--rows` changes `rows`; false if the scale is part of what is measured. */
  readonly scales: boolean;
  readonly tables: readonly TableName[];
  readonly peers: readonly PeerName[];
  /** Runs per engine, in turns; the median counts. */
  readonly runs: number;
  /**
   * "work": from the first call to the answer, with a warm engine. "process": from the start of the process to the
   * answer, all cold.
   */
  readonly clock: "work" | "process";
  /** Selects one of several queries of a program. */
  readonly query?: string;
  /** How many tasks the work has, if a time per task is wanted. */
  readonly tasks?: number;
  /** If engines write files, this query over them is the answer. `{written}` stands for a glob of the files. */
  readonly answerOfFiles?: string;
  readonly box: Bytes | null;
  readonly targets: readonly Target[];
}

/** One piece of work as a program sees it. */
export interface Job {
  readonly rows: number;
  readonly tasks: number;
  /** Empty if the program has a single query. */
  readonly query: string;
  readonly files: MadeTables;
  /** A directory for what the program writes; it does not exist yet. */
  readonly written: string;
}

/** What a program gets, as JSON, in its last argument. */
export interface Assignment {
  readonly cores: number;
  /** The memory limit of the run; null: no limit. */
  readonly box: Bytes | null;
  /** The same work on a thousand rows, done first and not timed. */
  readonly warmUp: Job;
  readonly job: Job;
}

export type Answer = Readonly<Record<string, unknown>>;

/** What a program prints, as its last line on stdout. */
export interface ProgramReport {
  readonly seconds: number;
  readonly startup: number;
  readonly answer: Answer;
}

/** The supervisor stays small whatever the work is. */
export const SUPERVISOR_TARGET: Target = { kind: "below", figure: "supervisorResident", limit: 150e6 };

/**
 * For work that consists of functions and streams: our processes must stay small. Relational work takes what it is
 * lent.
 */
export const MEMORY_TARGETS: readonly Target[] = [
  { kind: "below", figure: "workerPrivate", limit: 300e6 },
  SUPERVISOR_TARGET,
];
