/**
 * Reading very many columns: some of them at a time. The kernel's reader holds vectors for 2,048 rows of every column
 * that a statement asks for, several times over, which is 90 kB a column; read in groups, only the rows themselves grow
 * with the number of columns. What was read is then a table in this process's memory, whose rows are shown to the
 * kernel in small chunks (kernel/wide.ts).
 */
import {
  BlockBuilder,
  emptyBatch,
  type Field,
  MANY_COLUMNS,
  quoteIdentifier,
  type RecordBatch,
  type Vector,
} from "../arrow/index.ts";
import { type Connection, namedColumns } from "../kernel/index.ts";
import type { Step, TaskInput } from "../protocol/index.ts";

/** How many columns the task's statements handle; 0: not so many that the reading has to care. */
export function wideColumns({ wide }: Extract<TaskInput, { kind: "sql" }>, steps: readonly Step[]): number {
  const [first] = steps;
  const made = first?.kind === "sql" ? namedColumns(first.sql, Number.POSITIVE_INFINITY) : 0;
  const columns = Math.max(wide?.columns ?? 0, made);
  return wide !== undefined && columns > MANY_COLUMNS ? columns : 0;
}

/** All rows of `source`, which is SQL in the place of a table name. It gives the same rows, in order, each time. */
export async function readWide(
  connection: Connection,
  source: string,
  turn: () => void | Promise<void>,
): Promise<RecordBatch> {
  const { fields } = connection.describe(`SELECT * FROM ${source}`);
  const columns: Vector[] = [];
  const read: Field[] = [];
  let length = 0;
  for (let from = 0; from < fields.length; from += MANY_COLUMNS) {
    const names = fields.slice(from, from + MANY_COLUMNS).map(({ name }) => name);
    const some = await readColumns(connection, source, names, turn);
    if (some === null) return emptyBatch({ fields });
    length = some.length;
    columns.push(...some.columns);
    read.push(...some.schema.fields);
  }
  return { schema: { fields: read }, length, columns };
}

async function readColumns(
  connection: Connection,
  source: string,
  names: readonly string[],
  turn: () => void | Promise<void>,
): Promise<RecordBatch | null> {
  const stream = await connection.queryAsync(`SELECT ${names.map(quoteIdentifier).join(", ")} FROM ${source}`);
  try {
    const builder = new BlockBuilder();
    for (let batch = await stream.nextAsync(); batch !== null; batch = await stream.nextAsync()) {
      builder.append(batch);
      await turn();
    }
    return builder.finish();
  } finally {
    stream.close();
  }
}
