/**
 * The tables of a fed task, `{t0}`, `{t1}`, … in its SQL. They are filled while blocks come, and dropped when the task
 * has ended in any way. A block counts as read when it is in its table.
 */
import type { RecordBatch, Schema } from "../arrow/index.ts";
import { schemaEquals } from "../arrow/index.ts";
import type { DeclaredColumn } from "../kernel/index.ts";
import type { PlacedSlice, SeenColumns } from "../protocol/index.ts";
import { Cargo } from "./cargo/cargo.ts";
import { Gatherer } from "./cargo/gatherer.ts";
import { ReferringTable } from "./cargo/referring-table.ts";
import type { Feed } from "./feed.ts";
import type { LeasedKernel } from "./leased-kernel.ts";

interface FedScope {
  /** The rows of a slice, in place in the store. */
  read(slice: PlacedSlice): RecordBatch;
  /** The oldest unanswered message has been read. */
  fed(): void;
  /** Called between two short pieces of work; throws if the task is cancelled. */
  turn(): void | Promise<void>;
}

/**
 * If blocks are small, this many rows are inserted by one statement: a statement costs a millisecond, however few rows
 * it inserts.
 */
const TOGETHER_ROWS = 245_760;

export class FedTables {
  readonly #tables: readonly ReferringTable[];
  #cargo: Cargo | null = null;
  /** The next rows for one table, of the same schema. */
  #run: { readonly table: number; readonly batches: RecordBatch[]; rows: number } | null = null;
  #unanswered = 0;
  /** Rows in its tables. */
  rows = 0;
  /** The same, with the rows that are about to be inserted. */
  taken = 0;

  constructor(
    private readonly operator: string,
    private readonly kernel: LeasedKernel,
    tables: readonly (readonly DeclaredColumn[])[],
    /** For each table: what the SQL does with its columns; null: it may look at all. */
    sees: readonly (SeenColumns | null)[],
    private readonly scope: FedScope,
  ) {
    const { connection } = kernel;
    const cargo = () => this.#cargoOf();
    const turn = () => scope.turn();
    this.#tables = tables.map(
      (columns, i) => new ReferringTable({ connection, cargo, turn }, columns, sees[i] ?? null),
    );
  }

  get hasUntypedNulls(): boolean {
    return this.#tables.some((table) => table.hasUntypedNulls);
  }

  /** The SQL for each table. */
  get sql(): readonly string[] {
    return this.#tables.map((table) => table.sql);
  }

  async fill(feed: Feed): Promise<void> {
    for (let came = await feed.next(); came !== null; came = await feed.next()) {
      for (const { table, slices } of came) {
        for (const slice of slices) {
          const batch = this.scope.read(slice);
          if (!this.#joins(table, batch)) await this.#store();
          this.#run ??= { table, batches: [], rows: 0 };
          this.#run.batches.push(batch);
          this.#run.rows += batch.length;
          this.taken += batch.length;
        }
        this.#unanswered++;
      }
      await this.#store();
    }
    for (const table of this.#tables) await table.complete();
  }

  /** Rows whose cargo is outside of the kernel, and its bytes; null: there is none. */
  get byReference(): { readonly rows: number; readonly bytes: number } | null {
    return this.#cargo === null ? null : { rows: this.#cargo.rows, bytes: this.#cargo.bytes };
  }

  /** Brings cargo back into a result of this schema; null: nothing of it refers to cargo. */
  gatherer(schema: Schema): Gatherer | null {
    if (this.#cargo === null) return null;
    const gatherer = new Gatherer(schema, this.#cargo);
    return gatherer.isIdle ? null : gatherer;
  }

  async drop(): Promise<void> {
    for (const table of this.#tables) table.drop();
    const cargo = this.#cargo;
    this.#cargo = null;
    cargo?.close();
    if (cargo !== null) await this.kernel.shareWith(null);
  }

  #cargoOf(): Cargo {
    this.#cargo ??= new Cargo(this.kernel.directory, this.operator, this.kernel.lease.memory);
    return this.#cargo;
  }

  #joins(table: number, batch: RecordBatch): boolean {
    const run = this.#run;
    const [first] = run?.batches ?? [];
    if (run === null || first === undefined) return true;
    return run.table === table && run.rows < TOGETHER_ROWS && schemaEquals(first.schema, batch.schema);
  }

  async #store(): Promise<void> {
    const run = this.#run;
    this.#run = null;
    if (run !== null) {
      const table = this.#tables[run.table];
      if (table === undefined) throw new Error(`a block came for table ${run.table} of ${this.#tables.length}`);
      await table.append(run.batches);
      if (this.#cargo !== null) await this.kernel.shareWith(this.#cargo);
      this.rows += run.rows;
    }
    for (; this.#unanswered > 0; this.#unanswered--) this.scope.fed();
  }
}
