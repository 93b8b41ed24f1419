/** DuckDB alone: one of TPC-H's queries. Converting its rows to JSON, to compare them, is not timed. */
import { pathToFileURL } from "node:url";
import { QUERY_NAMES } from "../../examples/tpch/queries.ts";
import { sqlOf, viewsOf } from "../../examples/tpch/reference.ts";
import { tpchScale } from "../data/tpch/index.ts";
import type { Job } from "../workload.ts";
import type { Database } from "./duckdb.ts";
import { timedDuckdb } from "./duckdb-program.ts";
import { answerOfRows } from "./rows-answer.ts";

/** The harness runs programs in the project's directory. */
const SQL = pathToFileURL("examples/tpch/sql/");

async function prepared(database: Database, job: Job): Promise<string> {
  const name = QUERY_NAMES.find((each) => each === job.query);
  if (name === undefined) throw new Error(`TPC-H has no query "${job.query}".`);
  for (const view of viewsOf(job.files.tpch)) await database.execute(view.replace("CREATE", "CREATE OR REPLACE"));
  return sqlOf(name, tpchScale(job.rows), SQL);
}

await timedDuckdb(
  async (database, job) => {
    await database.execute(await prepared(database, job));
    return {};
  },
  async (database, job) => answerOfRows(await database.rows(await prepared(database, job))),
);
