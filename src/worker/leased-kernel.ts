/**
 * The worker's kernel and its lease. The kernel has one thread, except while a wide query runs: with more threads,
 * tables in this process's own memory can only be read by asynchronous calls, which cost several times as much. Steps
 * that follow a wide query use a second kernel with one thread.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { KernelError } from "../errors/index.ts";
import { type Connection, countedForVectors, Kernel, OUT_OF_MEMORY, settingsSql } from "../kernel/index.ts";
import type { Bytes, KernelLease, WorkerId } from "../protocol/index.ts";

/** What a kernel holds in memory and on disk. */
export interface KernelUsage {
  readonly memory: Bytes;
  readonly spilled: Bytes;
}

/** Memory of a task beside its kernel, which comes out of the same lease. */
interface SharesLease {
  readonly memory: Bytes;
  readonly spilled: Bytes;
  /** Gives memory back if the lease has become smaller. */
  keepWithin(lease: Bytes | null): void;
}

/** With less, a kernel can do nothing. */
const LEAST_MEMORY: Bytes = 16 * 2 ** 20;

const USAGE = `SELECT sum(memory_usage_bytes)::DOUBLE AS memory, sum(temporary_storage_bytes)::DOUBLE AS spilled
  FROM duckdb_memory()`;

export class LeasedKernel {
  #kernel = Kernel.open({ threads: 1 });
  #connection = this.#kernel.connect();
  /**
   * A connection for settings and questions while the other one works, so that an interrupt of the other does not stop
   * these.
   */
  #aside = this.#kernel.connect();
  #side: { readonly kernel: Kernel; readonly connection: Connection } | null = null;
  #lease: KernelLease = { threads: 1, memory: null };
  #memoryIsSet = true;
  /** Bytes of vectors that the limit may count in addition to the lease. */
  #counted = 0;
  #directory: string | null = null;
  #beside: SharesLease | null = null;
  /** What its memory was at the last setting. */
  #besideSet: Bytes = 0;

  get connection(): Connection {
    return this.#connection;
  }

  get lease(): KernelLease {
    return this.#lease;
  }

  /** Where it spills. */
  get directory(): string | null {
    return this.#directory;
  }

  /** For steps and sinks that follow a query: synchronous calls can read tables in this process's memory. */
  get side(): Connection {
    if (this.#lease.threads === 1) return this.connection;
    if (this.#side === null) {
      const kernel = Kernel.open({ threads: 1 });
      this.#side = { kernel, connection: kernel.connect() };
    }
    return this.#side.connection;
  }

  /** Called once, before the first task. The kernel makes the directory when it needs it. */
  spillBelow(sessionDirectory: string, worker: WorkerId): void {
    this.#directory = join(sessionDirectory, `kernel-${worker}`);
    this.#kernel.set({ tempDirectory: this.#directory });
  }

  /**
   * Applies the memory at once, as far as the kernel can write what it holds to disk. The threads apply to the next
   * wide query.
   */
  async take(lease: KernelLease): Promise<void> {
    this.#lease = lease;
    this.#memoryIsSet = false;
    this.#beside?.keepWithin(lease.memory);
    await this.#setMemory();
  }

  /** What the task holds beside the kernel, as it is now; null: nothing more. */
  async shareWith(beside: SharesLease | null): Promise<void> {
    this.#beside = beside;
    if ((beside?.memory ?? 0) !== this.#besideSet) await this.#setMemory();
  }

  /**
   * Runs a query with all threads. `keepOrder`: the order of tables and files matters, too, and not only an order in
   * the SQL.
   */
  async wide<Result>(keepOrder: boolean, work: () => Promise<Result>): Promise<Result> {
    if (!this.#memoryIsSet) await this.#setMemory();
    const { threads } = this.#lease;
    if (threads === 1) return work();
    this.#kernel.set({ threads, keepOrder });
    try {
      return await work();
    } finally {
      this.#kernel.set({ threads: 1, keepOrder: true });
    }
  }

  /**
   * From now on the statements are of so many columns, over tables that are shown in small chunks: the limit counts
   * vectors whole, of which only the beginnings are touched.
   */
  async countVectors(columns: number): Promise<void> {
    const counted = countedForVectors(columns);
    if (counted === this.#counted) return;
    this.#counted = counted;
    await this.#setMemory();
  }

  /** Can be called while a query runs. */
  async usage(): Promise<KernelUsage> {
    const stream = await this.#aside.queryAsync(USAGE);
    try {
      const batch = await stream.nextAsync();
      const [memory = 0, spilled = 0] = batch?.columns.map(({ buffers }) => firstDouble(buffers[1])) ?? [];
      return { memory: memory + (this.#beside?.memory ?? 0), spilled: spilled + (this.#beside?.spilled ?? 0) };
    } finally {
      stream.close();
    }
  }

  /**
   * Frees the stock of the kernel's allocator. Setting a limit empties it, even setting the same limit again (260 to 49
   * MB after a table was dropped; otherwise this takes seconds).
   */
  async giveBack(): Promise<void> {
    await this.#setMemory();
  }

  /**
   * Replaces a kernel that accepts no more statements after it failed in the middle of one (a commit without memory, an
   * error inside DuckDB). Its tables are lost. False: the kernel was intact. Only between tasks.
   */
  async renewIfBroken(): Promise<boolean> {
    if (isSound(this.#connection) && (this.#side === null || isSound(this.#side.connection))) return false;
    this.#kernel.close();
    this.#side?.kernel.close();
    this.#side = null;
    this.#kernel = Kernel.open({ threads: 1 });
    this.#connection = this.#kernel.connect();
    this.#aside = this.#kernel.connect();
    if (this.#directory !== null) this.#kernel.set({ tempDirectory: this.#directory });
    await this.take(this.#lease);
    return true;
  }

  interrupt(): void {
    this.#connection.interrupt();
    this.#side?.connection.interrupt();
  }

  close(): void {
    this.#kernel.close();
    this.#side?.kernel.close();
    this.removeFiles();
  }

  /** A process that ends without closing its kernel would leave the kernel's files. */
  removeFiles(): void {
    if (this.#directory !== null) rmSync(this.#directory, { recursive: true, force: true });
  }

  async #setMemory(): Promise<void> {
    const { memory } = this.#lease;
    this.#besideSet = this.#beside?.memory ?? 0;
    const own = memory === null ? null : Math.max(Math.min(memory, LEAST_MEMORY), memory - this.#besideSet);
    try {
      const limit = own === null ? null : own + this.#counted;
      await this.#aside.executeAsync(settingsSql({ memoryLimit: limit }));
      if (memory === this.#lease.memory) this.#memoryIsSet = true;
    } catch (error) {
      // The kernel holds more than that, and cannot write it to disk now. The limit is set again before the next query.
      if (!(error instanceof KernelError && error.kind === OUT_OF_MEMORY)) throw error;
    }
  }
}

function isSound(connection: Connection): boolean {
  try {
    connection.execute("SELECT 1");
    return true;
  } catch {
    return false;
  }
}

function firstDouble(bytes: Uint8Array | null | undefined): number {
  if (bytes === null || bytes === undefined || bytes.byteLength < 8) return 0;
  return new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true);
}
