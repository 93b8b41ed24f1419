/** Answers the planner's questions about files: a small result as plain rows. */
import { compileRows } from "../arrow/index.ts";
import { KernelError } from "../errors/index.ts";
import type { Connection } from "../kernel/index.ts";
import type { InspectedRow, QuickQuestion } from "../protocol/index.ts";
import { footersOf, JoinedFile, WholeFiles } from "./joined/index.ts";

export async function inspect(
  connection: Connection,
  sql: string,
  quick: QuickQuestion | null,
): Promise<readonly InspectedRow[]> {
  return (quick === null ? null : await quickly(connection, quick)) ?? rowsOf(connection, sql);
}

/** Null when the ordinary query must answer, or must report the error. */
async function quickly(connection: Connection, quick: QuickQuestion): Promise<readonly InspectedRow[] | null> {
  if (quick.kind === "footers") return footersOf(quick.files);
  const joined = await JoinedFile.of(quick.files, quick, () => {}, new WholeFiles({ for: "question" }));
  if (joined === null) return null;
  try {
    return rowsOf(connection, joined.sql);
  } catch (error) {
    if (error instanceof KernelError) return null;
    throw error;
  } finally {
    joined.close();
  }
}

function rowsOf(connection: Connection, sql: string): readonly InspectedRow[] {
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
