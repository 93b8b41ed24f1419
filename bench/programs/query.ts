/** Prints the one row of a query as JSON; used to check what engines wrote. Argument: the query. */
import { openDatabase } from "./duckdb.ts";

const database = await openDatabase(2);
process.stdout.write(`${JSON.stringify(await database.row(process.argv[2] ?? ""))}\n`);
database.close();
