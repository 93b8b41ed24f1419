/**
 * Every error a user can meet: a class with fields, and a message that says what happened, to what, with which
 * numbers, and what to do. They cross processes by name and fields (wire.ts), so fields are plain data.
 */
import type { DeathReason, ExitType, OutOfMemoryReason } from "./ends.ts";

export class SpillwayError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** SQL that the kernel refused or that failed while running. */
export class KernelError extends SpillwayError {
  constructor(
    message: string,
    /** The kernel's own class of error: "Binder", "Conversion", "IO", "Out of Memory", … */
    readonly kind: string,
    readonly sql: string | null = null,
  ) {
    super(message);
  }
}

/**
 * The kernel may use so much memory, and needed more at once, for something that it cannot put on disk. Only between a
 * worker and the scheduler: users meet it as an `OutOfMemoryError` with the reason "engineMemory".
 */
export class KernelMemoryError extends SpillwayError {
  constructor(
    message: string,
    readonly operator: string,
    /** Bytes; null where the kernel had no limit of ours. */
    readonly limit: number | null,
    readonly threads: number,
  ) {
    super(message);
  }
}

export class UnknownColumnError extends SpillwayError {
  constructor(
    readonly column: string,
    readonly available: readonly string[],
    readonly operator: string,
    suggestion: string | null,
    /** `available` are all the columns, or only those that somebody thought of. */
    known: "all" | "some" = "all",
  ) {
    const here = known === "all" ? "Columns here" : "Among the columns here";
    const hint = suggestion === null ? "" : ` Did you mean "${suggestion}"?`;
    const nothing = known === "all" ? " There are no columns here." : "";
    const columns = available.length === 0 ? nothing : ` ${here}: ${available.join(", ")}.`;
    super(`${operator}: there is no column "${column}".${hint}${columns}`);
  }
}

/** A path that matches nothing, or cannot be read, or holds something else than it should. */
export class SourceError extends SpillwayError {
  constructor(
    message: string,
    readonly path: string,
  ) {
    super(message);
  }
}

export class WriteError extends SpillwayError {
  constructor(
    message: string,
    readonly path: string,
  ) {
    super(message);
  }
}

/** A bad option or argument, found before anything runs. */
export class OptionError extends SpillwayError {}

/** A function that cannot be shipped to a worker. */
export class CaptureError extends SpillwayError {
  constructor(
    message: string,
    readonly variable: string,
    readonly location: string | null,
  ) {
    super(message);
  }
}

/** The user's function threw, or gave something that is no row. */
export class FunctionError extends SpillwayError {
  constructor(
    message: string,
    readonly operator: string,
    /** Index in the operator's input within its task, and a short print of the row; null where it is a batch. */
    readonly row: number | null,
    readonly rowText: string | null,
    readonly files: readonly string[],
    /** The user's error: its name, message and stack with their own positions. All of it is the `cause`. */
    readonly errorName: string,
    readonly userStack: string | null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Rows of one function that do not have the same columns, or a column whose values change type. */
export class RowShapeError extends SpillwayError {
  constructor(
    message: string,
    readonly column: string | null,
  ) {
    super(message);
  }
}

/** The two sides of a zip do not have equally many rows. */
export class ZipLengthError extends SpillwayError {
  constructor(
    message: string,
    /** The side that has more of them. */
    readonly longer: "left" | "right",
  ) {
    super(message);
  }
}

/** A value that cannot be given to JavaScript, or taken from it, without loss. */
export class ValueError extends SpillwayError {
  constructor(
    message: string,
    readonly column: string | null = null,
  ) {
    super(message);
  }
}

/** A retried task made other blocks than before. */
export class NondeterministicFunctionError extends SpillwayError {
  constructor(
    message: string,
    readonly operator: string,
  ) {
    super(message);
  }
}

/** A worker process died under a task, more often than it may. */
export class WorkerDiedError extends SpillwayError {
  constructor(
    message: string,
    readonly operator: string,
    readonly exitCode: number | null,
    readonly signal: string | null,
    readonly reason: DeathReason,
    readonly exitType: ExitType,
  ) {
    super(message);
  }
}

/** A task ran out of memory, and did so again with less at once and with all the memory there is. */
export class OutOfMemoryError extends SpillwayError {
  constructor(
    message: string,
    readonly operator: string,
    readonly reason: OutOfMemoryReason,
    /** The most memory that the task was seen to have. */
    readonly memory: number | null,
    readonly attempts: number,
    /** What to do, the most promising first. */
    readonly remedies: readonly string[],
  ) {
    super(message);
  }
}

/** A block larger than the store, or a store that cannot be made. */
export class StoreError extends SpillwayError {}

/**
 * Blocks that no spill directory takes: disks full or out of reach, or `maxSpill` used up. The blocks are still in
 * memory.
 */
export class SpillError extends SpillwayError {
  constructor(
    message: string,
    /** Every spill directory, why it did not take the blocks, and its free bytes (null where that cannot be told). */
    readonly directories: readonly { readonly path: string; readonly reason: string; readonly free: number | null }[],
    readonly maxSpill: number | null,
    /** Bytes in spill files at that time. */
    readonly spilled: number,
  ) {
    super(message);
  }
}

/** A spill file that is gone, or does not hold any more what was written to it. */
export class SpillDamagedError extends SpillwayError {
  constructor(
    message: string,
    readonly file: string,
    readonly reason: "missing" | "truncated" | "checksum" | "unreadable",
    /** Where in the file the block lies. */
    readonly range: { readonly offset: number; readonly length: number },
  ) {
    super(message);
  }
}

/** A call that was cancelled: by its signal or its timeout (whose reason is the `cause`), or by leaving it. */
export class CancelledError extends SpillwayError {
  /** As Node's own are called. */
  readonly code = "ABORT_ERR";

  constructor(
    message: string,
    /** The consuming method; null where nobody asked for the work any more. */
    readonly operator: string | null = null,
    /** Milliseconds since its beginning. */
    readonly after: number | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  override get name(): string {
    return "AbortError";
  }
}

/** The session is closed, or its supervisor is gone. */
export class SessionClosedError extends SpillwayError {}

export const errorClasses: ReadonlyMap<string, { readonly prototype: SpillwayError }> = new Map(
  [
    KernelError,
    KernelMemoryError,
    UnknownColumnError,
    SourceError,
    WriteError,
    OptionError,
    CaptureError,
    FunctionError,
    RowShapeError,
    ZipLengthError,
    ValueError,
    NondeterministicFunctionError,
    WorkerDiedError,
    OutOfMemoryError,
    StoreError,
    SpillError,
    SpillDamagedError,
    CancelledError,
    SessionClosedError,
  ].map((known) => [known.name, known]),
);
