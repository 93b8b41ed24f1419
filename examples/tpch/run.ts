/**
 * Runs queries of TPC-H: `npx tsx examples/tpch/run.ts --scale 1 --query 3`. Makes the data once, in .sample/tpch.
 * Shows the rows of one query, the times of several; `--check` compares the answers with DuckDB's, `--explain` shows
 * the plan.
 */
import { parseArgs } from "node:util";
import { session } from "spillway";
import { makeTpch } from "../../bench/data/tpch/index.ts";
import { openDatabase } from "../../bench/programs/duckdb.ts";
import { QUERY_NAMES, queries } from "./queries.ts";
import { differences, sqlOf, viewsOf } from "./reference.ts";
import { openTables } from "./tables.ts";

const { values } = parseArgs({
  options: {
    scale: { type: "string", default: "0.1" },
    query: { type: "string", default: QUERY_NAMES.map((name) => name.slice(1)).join(",") },
    data: { type: "string", default: ".sample/tpch" },
    check: { type: "boolean", default: false },
    explain: { type: "boolean", default: false },
  },
});
const scale = Number(values.scale);
if (!(scale > 0)) throw new Error(`--scale takes a number above 0, such as 0.1; "${values.scale}" is none.`);
const wanted = values.query.split(",").map((text) => {
  const name = QUERY_NAMES.find((each) => each === `q${text.trim().replace(/^q/, "").padStart(2, "0")}`);
  if (name === undefined) throw new Error(`--query takes numbers from 1 to 22; "${text}" is none.`);
  return name;
});

const database = await openDatabase(2);
const files = await makeTpch({ directory: values.data, scale, execute: (sql) => database.execute(sql) });
if (values.check) for (const view of viewsOf(files)) await database.execute(view);

const s = session({ workers: 2 });
try {
  const tables = openTables(s, files, scale);
  for (const name of wanted) {
    const dataset = queries[name](tables);
    const started = performance.now();
    const rows = await dataset.takeAll();
    const seconds = ((performance.now() - started) / 1000).toFixed(2);
    if (wanted.length === 1) console.table(rows.slice(0, 20));
    if (values.explain) console.log(await dataset.explain());
    const wrong = values.check ? differences(rows, await database.rows(await sqlOf(name, scale))) : [];
    const verdict = !values.check
      ? ""
      : wrong.length === 0
        ? ", as in DuckDB"
        : `, WRONG: ${wrong.slice(0, 3).join("; ")}`;
    console.log(`${name}: ${rows.length} rows in ${seconds} s${verdict}`);
    if (wrong.length > 0) process.exitCode = 1;
  }
} finally {
  await s.close();
  database.close();
}
