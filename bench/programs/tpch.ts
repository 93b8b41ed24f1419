/** Ours: one of TPC-H's queries, as examples/tpch writes it. */
import { QUERY_NAMES, queries } from "../../examples/tpch/queries.ts";
import { openTables } from "../../examples/tpch/tables.ts";
import { tpchScale } from "../data/tpch/index.ts";
import { timed } from "./program.ts";
import { answerOfRows } from "./rows-answer.ts";

await timed(async (session, job) => {
  const name = QUERY_NAMES.find((each) => each === job.query);
  if (name === undefined) throw new Error(`TPC-H has no query "${job.query}".`);
  return answerOfRows(await queries[name](openTables(session, job.files.tpch, tpchScale(job.rows))).takeAll());
});
