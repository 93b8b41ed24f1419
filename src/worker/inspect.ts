/** A question of the planner's about files: a small result of the kernel as plain rows. */
import { compileRows } from "../arrow/index.ts";
import type { Connection } from "../kernel/index.ts";
import type { InspectedRow } from "../protocol/index.ts";

export function inspect(connection: Connection, sql: string): readonly InspectedRow[] {
  const stream = connection.query(sql);
  const rows: InspectedRow[] = [];
  try {
    const reader = compileRows(stream.schema, { int64: "bigint" });
    for (let batch = stream.next(); batch !== null; batch = stream.next()) {
      reader.load(batch);
      for (let i = 0; i < batch.length; i++) rows.push(plainRow(reader.row(i)));
    }
    return rows;
  } finally {
    stream.close();
  }
}

function plainRow(row: Readonly<Record<string, unknown>>): InspectedRow {
  return JSON.parse(JSON.stringify(row, (_, value) => (typeof value === "bigint" ? value.toString() : value)));
}
