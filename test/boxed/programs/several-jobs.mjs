// Jobs at once in one session, each with its own end: read, counted, written, kept. argv: directory, bytes of each.
import { join } from "node:path";
import { session } from "spillway";
import { rowsOf, wide } from "./rows.mjs";

const [directory, bytes] = process.argv.slice(2);
const rows = rowsOf(Number(bytes));
const s = session({ progress: false });
const made = () => s.range(rows).map(wide);

async function read() {
  let sum = 0;
  for await (const row of made().iterRows()) sum += row.half;
  return sum;
}

const [sum, counted, written, kept] = await Promise.all([
  read(),
  made()
    .filter((row) => row.id % 2 === 0)
    .count(),
  made().writeParquet(join(directory, "out")),
  made().limit(10_000).materialize(),
]);
console.log(JSON.stringify({ sum, counted, written: written.rows, kept: await kept.count() }));
await s.close();
