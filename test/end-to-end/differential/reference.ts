/** The kernel used directly: holds the rows that each step of a chain must give, as tables. */
import { arrowFileWriter, readArrowBytes, type Schema, typeName, type ValueOptions } from "../../../src/arrow/index.ts";
import { KernelError } from "../../../src/errors/index.ts";
import { Kernel } from "../../../src/kernel/index.ts";
import type { Rows } from "./compare.ts";

/** More rows say no more, and take long. */
const MOST_ROWS = 1500;
/** The question itself has no answer for these rows. */
const NO_ANSWER =
  /overflow|out of range|could not cast|conversion|could not convert|too (large|small)|exceeds|cannot compare|cannot mix values/i;

export class Reference {
  readonly #kernel = Kernel.open({ threads: 1 });
  readonly #connection = this.#kernel.connect();
  #tables = 0;

  /** The table of a question's rows; null where it has no answer or too many rows. */
  asked(sql: string): string | null {
    const table = `t${this.#tables++}`;
    try {
      this.#connection.execute(`CREATE TABLE ${table} AS ${sql}`);
    } catch (error) {
      if (error instanceof KernelError && NO_ANSWER.test(error.message)) return null;
      throw error;
    }
    const [row] = this.rows(`SELECT count(*) AS n FROM ${table}`);
    return Number(row?.n) <= MOST_ROWS ? table : null;
  }

  /** A table of the rows of an Arrow file or stream. */
  loaded(bytes: Uint8Array): string {
    const { schema, batches } = readArrowBytes(bytes);
    const given = this.#connection.table(batches, schema);
    try {
      const table = this.asked(`FROM ${given.sql}`);
      if (table === null) throw new Error("too many rows to begin with");
      return table;
    } finally {
      given.release();
    }
  }

  isEmpty(table: string): boolean {
    return this.rows(`SELECT 1 AS one FROM ${table} LIMIT 1`).length === 0;
  }

  rows(sql: string, values: ValueOptions = {}): Rows {
    return this.#connection.all(sql, values);
  }

  schema(sql: string): Schema {
    return this.#connection.describe(sql);
  }

  types(table: string, names: readonly string[]): Record<string, string> {
    const { fields } = this.schema(`FROM ${table}`);
    const some = fields.filter(({ name }) => names.includes(name));
    return Object.fromEntries(some.map(({ name, type }) => [name, typeName(type)]));
  }

  /** The rows as an Arrow file. */
  arrow(sql: string): Uint8Array {
    const stream = this.#connection.query(sql);
    try {
      const file = arrowFileWriter(stream.schema);
      const parts = [file.header()];
      for (let batch = stream.next(); batch !== null; batch = stream.next()) parts.push(file.batch(batch));
      return Buffer.concat([...parts, file.footer()]);
    } finally {
      stream.close();
    }
  }

  execute(sql: string): void {
    this.#connection.execute(sql);
  }

  forgetTables(): void {
    for (const { name } of this.rows("SELECT table_name AS name FROM duckdb_tables()"))
      this.execute(`DROP TABLE ${name}`);
  }

  close(): void {
    this.#connection.close();
    this.#kernel.close();
  }
}
