/**
 * What a dataset needs from a session: metadata, room in the store, and jobs. The session implements it. Datasets,
 * sources and writers know nothing else of processes, sockets or the store.
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
  KernelLease,
  Operator,
  OperatorId,
  QuickQuestion,
  ResourceRequest,
  WrittenFile,
} from "../protocol/index.ts";

export interface EngineSettings {
  readonly workers: number;
  /** What all running tasks together can use. */
  readonly resources: ResourceRequest;
  /** The capacity of the store. */
  readonly capacity: Bytes;
  /** What the kernel of a worker may use. */
  readonly workerLease: KernelLease;
  /** The session's memory, and the part of it for the program and the supervisor. */
  readonly pool: { readonly memory: Bytes; readonly overhead: Bytes };
  readonly targetMaxBlockSize: Bytes;
  /** False: small blocks are not combined. */
  readonly targetMinBlockSize: Bytes | false;
  readonly targetShuffleMaxBlockSize: Bytes;
  readonly eager: boolean;
  readonly preserveOrder: boolean;
  /** Sorts, groups and joins run by partitions in the workers, instead of in one kernel with all threads. */
  readonly exchange: boolean;
  readonly maxErroredBlocks: number;
  readonly maxRetries: number;
  readonly maxOomRetries: number;
  readonly progress: boolean;
}

/** What tasks of functions took in earlier runs, also in other programs. */
interface Appetites {
  /** Null: unknown. */
  of(key: string): Bytes | null;
  keep(key: string, bytes: Bytes): void;
}

export interface Engine {
  readonly settings: EngineSettings;
  readonly appetites: Appetites;
  /** Throws if the session is closed. */
  checkOpen(): void;
  /**
   * A small metadata query, run in a worker; bigints arrive as text. `quick`: how the worker may answer it without the
   * query.
   */
  inspect(sql: string, quick?: QuickQuestion | null): Promise<readonly InspectedRow[]>;
  /** Rows into the store; the program holds one reference. */
  put(batch: RecordBatch): Promise<BlockRef>;
  /** Puts a payload into the store; the program holds one reference. */
  putBytes(bytes: Uint8Array): Promise<BlockRef>;
  release(blocks: readonly BlockId[]): void;
  run(job: JobSpec, options: RunOptions): RunningJob;
  newJobId(): JobId;
}

export interface RunOptions {
  /** How many output blocks may wait for the reader. */
  readonly wantBlocks: number;
  /** The reader keeps the blocks, instead of reading and releasing them. */
  readonly keeps: boolean;
  /** The caller waits for the end of the job from the start; otherwise it reads blocks, one after the other. */
  readonly toEnd: boolean;
  /** Called with the figures so far, a few times a second. Null: it ended early, before there were any. */
  going(stats: JobStats | null): void;
  /**
   * The wide kernel has run out of memory for an operator: plans operators that take its place. `made`: the bytes that
   * its inputs come to.
   */
  otherWay(operator: OperatorId, made: ReadonlyMap<OperatorId, Bytes>): Promise<readonly Operator[]>;
}

/** Iterating pulls blocks. Leaving early (`return()`) cancels the job and frees what it holds. */
export interface RunningJob extends AsyncIterable<ReceivedBlock> {
  /** Rejects with the job's typed error. */
  readonly finished: Promise<FinishedJob>;
  /** Ends the job; its result is of no interest any more. */
  cancel(): Promise<void>;
  /** Asks the job to end; `finished` tells how it ended. Files that are being moved into place are still moved. */
  stop(): void;
}

export interface FinishedJob {
  readonly stats: JobStats;
  readonly rows: number;
  readonly files: readonly WrittenFile[];
}

export interface ReceivedBlock {
  readonly slice: BlockSlice;
  /** A borrowed view, valid until `release` or `keep`. */
  read(): RecordBatch;
  /** Called instead of `release`: the block stays in the store, and the caller owns its reference. */
  keep(): BlockSlice;
  /**
   * What to wait for before more of the block is read: the program has grown, and the session makes room for it. Null,
   * nearly always: nothing.
   */
  room(): Promise<void> | null;
  release(): void;
}
