/**
 * SQL over batches that a function made: row by row, or to fewer rows. Runs once for each morsel and not for each
 * batch: planning a query costs about 0.3 ms, which is little for 16,384 rows and too much for a batch of 1,024.
 */
import { assertOwnColumns, BlockBuilder, type RecordBatch } from "../../arrow/index.ts";
import type { Connection } from "../../kernel/index.ts";
import { fillPlaceholders, INPUT } from "../../protocol/index.ts";
import { namingColumns } from "../kernel-errors.ts";
import type { Link, TaskScope } from "../link.ts";
import { PieceRows } from "./piece-rows.ts";

interface Morsel {
  readonly rows: number;
  readonly bytes: number;
}

const MORSEL: Morsel = { rows: 16_384, bytes: 8 << 20 };
/**
 * For SQL that makes fewer rows: 10,000 groups in a million rows become 80,000 states instead of 610,000
 * (bench/micro/two-phase.ts).
 */
const LARGE_MORSEL: Morsel = { rows: 131_072, bytes: 16 << 20 };

export class SqlStep implements Link {
  readonly #morsel = new BlockBuilder();
  readonly takesEach = false;
  readonly #bytes: number;
  readonly #piece: PieceRows;

  constructor(
    private readonly operator: string,
    private readonly sql: string,
    private readonly connection: Connection,
    private readonly next: Link,
    private readonly scope: TaskScope,
    shrinks = false,
  ) {
    const { rows, bytes } = shrinks ? LARGE_MORSEL : MORSEL;
    this.#bytes = bytes;
    this.#piece = new PieceRows(next, rows);
  }

  /** How many rows its next morsel lacks. */
  get wanted(): number {
    const { wanted } = this.next;
    if (wanted <= 0 || wanted === Number.POSITIVE_INFINITY) return wanted;
    return this.#piece.rows - this.#morsel.rows;
  }

  push(batch: RecordBatch): void | Promise<void> {
    this.#morsel.append(batch);
    if (this.#morsel.rows >= this.#piece.rows || this.#morsel.byteLength >= this.#bytes) return this.#run();
  }

  async end(): Promise<void> {
    if (this.#morsel.rows > 0 && this.next.wanted > 0) await this.#run();
    await this.next.end();
  }

  close(): void {
    this.next.close();
  }

  async #run(): Promise<void> {
    const batch = this.#morsel.finish();
    if (batch === null) return;
    const table = this.connection.table([batch]);
    try {
      const stream = this.connection.query(fillPlaceholders(this.sql, new Map([[INPUT, table.sql]])));
      try {
        assertOwnColumns(this.operator, stream.schema);
        for (let chunk = stream.next(); chunk !== null; chunk = this.next.wanted > 0 ? stream.next() : null) {
          const wait = this.next.push(chunk);
          if (wait !== undefined) await wait;
          this.scope.check();
        }
        this.#piece.handedOn();
      } finally {
        stream.close();
      }
    } catch (error) {
      throw namingColumns(error, this.operator, () => batch.schema.fields.map(({ name }) => name));
    } finally {
      table.release();
    }
  }
}
