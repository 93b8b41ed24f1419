/** Makes Parquet files by SQL. Arguments: pairs of a path and the query whose rows go there. */
import { renameSync } from "node:fs";
import { openDatabase } from "./duckdb.ts";

const database = await openDatabase(2);
for (let at = 2; at < process.argv.length; at += 2) {
  const [path = "", sql = ""] = process.argv.slice(at, at + 2);
  const part = `${path}.part`;
  await database.execute(
    `COPY (${sql}) TO '${part.replaceAll("'", "''")}' (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 32768)`,
  );
  renameSync(part, path);
}
database.close();
