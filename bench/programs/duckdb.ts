/**
 * DuckDB alone, through its maker's JavaScript binding and not through this project's kernel, so that no change of ours
 * can make the baseline slower. It is the same libduckdb that the kernel loads.
 */
import duckdb from "@duckdb/node-bindings";

export interface Database {
  execute(sql: string): Promise<void>;
  /** The one row of a query, as JSON values. */
  row(sql: string): Promise<Readonly<Record<string, unknown>>>;
  /** All rows of a query, in its order, as JSON values. */
  rows(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  close(): void;
}

export async function openDatabase(threads: number, settings: readonly string[] = []): Promise<Database> {
  const database = await duckdb.open(":memory:");
  // A connection runs one statement at a time, and callers run several at once: so each statement gets a connection.
  const withConnection = async <T>(use: (connection: duckdb.Connection) => Promise<T>): Promise<T> => {
    const connection = await duckdb.connect(database);
    try {
      return await use(connection);
    } finally {
      duckdb.disconnect_sync(connection);
    }
  };
  for (const setting of [`threads = ${threads}`, ...settings]) {
    await withConnection((connection) => duckdb.query(connection, `SET GLOBAL ${setting}`));
  }
  const text = (sql: string): Promise<string> =>
    withConnection(async (connection) => firstText(await duckdb.query(connection, sql)));
  return {
    execute: async (sql) => {
      await withConnection((connection) => duckdb.query(connection, sql));
    },
    row: async (sql) => JSON.parse(await text(`SELECT to_json(only_row)::VARCHAR FROM (${sql}) AS only_row`)),
    rows: async (sql) => {
      const numbered = `SELECT row_number() OVER () AS number, one FROM (${sql}) AS one`;
      return JSON.parse(
        await text(`SELECT coalesce(to_json(list(one ORDER BY number)), '[]')::VARCHAR FROM (${numbered})`),
      );
    },
    close: () => duckdb.close_sync(database),
  };
}

/** The binding returns raw vectors: a text is 16 bytes, its length first, then the text itself or a pointer to it. */
function firstText(result: duckdb.Result): string {
  const vector = duckdb.data_chunk_get_vector(duckdb.result_get_chunk(result, 0), 0);
  const { buffer, byteOffset } = duckdb.vector_get_data(vector, 16);
  const length = new DataView(buffer, byteOffset).getUint32(0, true);
  const bytes =
    length <= 12
      ? new Uint8Array(buffer, byteOffset + 4, length)
      : duckdb.get_data_from_pointer(buffer as ArrayBuffer, byteOffset + 8, length);
  return Buffer.from(bytes).toString("utf8");
}
