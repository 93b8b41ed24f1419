/**
 * What a dataset needs of a session: metadata, room in the store, and jobs that run. The session implements it;
 * datasets, sources and writers know nothing else of processes, sockets or the store.
 */
import type { RecordBatch } from "../arrow/index.ts";
import type {
  BlockId,
  BlockRef,
  BlockSlice,
  Bytes,
  InspectedRow,
  JobId,
  JobSpec,
  JobStats,
  ResourceRequest,
} from "../protocol/index.ts";

export interface EngineSettings {
  readonly workers: number;
  /** All that tasks can have at once. */
  readonly resources: ResourceRequest;
  /** Of the store. */
  readonly capacity: Bytes;
  readonly targetMaxBlockSize: Bytes;
  /** False: blocks are not put together. */
  readonly targetMinBlockSize: Bytes | false;
  readonly targetShuffleMaxBlockSize: Bytes;
  readonly eager: boolean;
  readonly preserveOrder: boolean;
  /** Sorts, groups and joins by partitions in the workers instead of in one kernel with all threads. */
  readonly exchange: boolean;
  readonly maxErroredBlocks: number;
  readonly maxRetries: number;
  readonly maxOomRetries: number;
  readonly progress: boolean;
}

export interface Engine {
  readonly settings: EngineSettings;
  /** Throws where the session has been closed. */
  checkOpen(): void;
  /** A small metadata query, run in a worker; bigints arrive as text. */
  inspect(sql: string): Promise<readonly InspectedRow[]>;
  /** Rows into the store; the program holds one reference. */
  put(batch: RecordBatch): Promise<BlockRef>;
  /** A payload into the store; the program holds one reference. */
  putBytes(bytes: Uint8Array): Promise<BlockRef>;
  release(blocks: readonly BlockId[]): void;
  run(job: JobSpec, options: RunOptions): RunningJob;
  newJobId(): JobId;
}

export interface RunOptions {
  /** Output blocks that may wait for the reader. */
  readonly wantBlocks: number;
  /** The reader keeps the blocks, instead of reading and releasing them. */
  readonly keeps: boolean;
  /** The job's end is waited for, from its beginning; else whoever reads its blocks waits for the next one. */
  readonly toEnd: boolean;
}

/** Iterating pulls; leaving early (`return()`) cancels the job and frees what it holds. */
export interface RunningJob extends AsyncIterable<ReceivedBlock> {
  /** Rejects with the job's typed error. */
  readonly finished: Promise<FinishedJob>;
  /** Nobody wants to know any more what becomes of it. */
  cancel(): Promise<void>;
  /** Asks it to end; `finished` tells how it did. Files on their way to their place still get there. */
  stop(): void;
}

export interface FinishedJob {
  readonly stats: JobStats;
  readonly rows: number;
}

export interface ReceivedBlock {
  readonly slice: BlockSlice;
  /** A borrowed view, until `release` or `keep`. */
  read(): RecordBatch;
  /** Instead of `release`: the block stays in the store, and its reference is the caller's. */
  keep(): BlockSlice;
  release(): void;
}
