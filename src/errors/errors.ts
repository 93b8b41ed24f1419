/**
 * Every error that users meet: a class with fields, and a message that says what happened, to what, with which numbers,
 * and what to do. Errors cross processes by name and fields (wire.ts), so fields are plain data.
 */
import type { DeathReason, ExitType, OutOfMemoryReason } from "./ends.ts";

export class SpillwayError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** SQL that the kernel refused, or that failed while running. */
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
 * The kernel needed more memory than its limit, for data that it cannot put on disk. Used only between a worker and the
 * scheduler: users get an `OutOfMemoryError` with the reason "engineMemory".
 */
export class KernelMemoryError extends SpillwayError {
  constructor(
    message: string,
    readonly operator: string,
    /** Bytes; null if the session had set no limit. */
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
    /** Whether `available` has all columns, or only some that the kernel suggested. */
    known: "all" | "some" = "all",
  ) {
    const here = known === "all" ? "Columns here" : "Among the columns here";
    const hint = suggestion === null ? "" : ` Did you mean "${suggestion}"?`;
    const nothing = known === "all" ? " There are no columns here." : "";
    const columns = available.length === 0 ? nothing : ` ${here}: ${available.join(", ")}.`;
    super(`${operator}: there is no column "${column}".${hint}${columns}`);
  }
}

/** A path that matches nothing or cannot be read, or a file with unexpected content. */
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

/** The user's function threw, or returned something that is not a row. */
export class FunctionError extends SpillwayError {
  constructor(
    message: string,
    readonly operator: string,
    /** Index in the operator's input within its task, and a short print of the row; null for a batch. */
    readonly row: number | null,
    readonly rowText: string | null,
    readonly files: readonly string[],
    /**
     * The name and the stack of the user's error, with positions in the user's source. The whole error is the `cause`.
     */
    readonly errorName: string,
    readonly userStack: string | null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Rows of one function with different columns, or a column whose values change type. */
export class RowShapeError extends SpillwayError {
  constructor(
    message: string,
    readonly column: string | null,
  ) {
    super(message);
  }
}

/** The two sides of a zip have different numbers of rows. */
export class ZipLengthError extends SpillwayError {
  constructor(
    message: string,
    /** The side with more rows. */
    readonly longer: "left" | "right",
  ) {
    super(message);
  }
}

/** A value that cannot cross to or from JavaScript without loss. */
export class ValueError extends SpillwayError {
  constructor(
    message: string,
    readonly column: string | null = null,
  ) {
    super(message);
  }
}

/** A task that ran again made different blocks. */
export class NondeterministicFunctionError extends SpillwayError {
  constructor(
    message: string,
    readonly operator: string,
  ) {
    super(message);
  }
}

/** A task's worker died more often than `maxRetries` allows. */
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

/** A task ran out of memory, also with less at once and with all the memory. */
export class OutOfMemoryError extends SpillwayError {
  constructor(
    message: string,
    readonly operator: string,
    readonly reason: OutOfMemoryReason,
    /** The largest memory of the task that was measured. */
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
 * No spill directory can take the blocks: disks are full or unreachable, or `maxSpill` is used up. The blocks are still
 * in memory.
 */
export class SpillError extends SpillwayError {
  constructor(
    message: string,
    /** Every spill directory, why it refused the blocks, and its free bytes (null if unknown). */
    readonly directories: readonly { readonly path: string; readonly reason: string; readonly free: number | null }[],
    readonly maxSpill: number | null,
    /** Bytes in spill files at that time. */
    readonly spilled: number,
  ) {
    super(message);
  }
}

/** A spill file is missing, or its content has changed. */
export class SpillDamagedError extends SpillwayError {
  constructor(
    message: string,
    readonly file: string,
    readonly reason: "missing" | "truncated" | "checksum" | "unreadable",
    /** The block's range in the file. */
    readonly range: { readonly offset: number; readonly length: number },
  ) {
    super(message);
  }
}

/** A call that was cancelled by its signal or its timeout (the `cause` has the reason), or by leaving its loop. */
export class CancelledError extends SpillwayError {
  /** The code of Node's own abort errors. */
  readonly code = "ABORT_ERR";

  constructor(
    message: string,
    /** The consuming method; null if no call wanted the work any more. */
    readonly operator: string | null = null,
    /** Milliseconds since the call. */
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
