// Made-up rows through a row function and a batch function, counted or written. argv: directory, sink, bytes.
import { join } from "node:path";
import { col, configure, range, readParquet } from "spillway";
import { rowsOf, wide } from "./rows.mjs";

const [directory, sink, bytes] = process.argv.slice(2);
configure({ progress: false });

const ds = range(rowsOf(Number(bytes)))
  .map(wide)
  .mapBatches((batch) => ({ ...batch, letters: batch.text.map((text) => text.length) }));

if (sink === "count") console.log(JSON.stringify({ rows: await ds.count() }));
else {
  const out = join(directory, "out");
  const { rows } = await ds.writeParquet(out);
  const read = await readParquet(out)
    .filter(col("letters").eq(col("text").length()))
    .count();
  console.log(JSON.stringify({ rows, read }));
}
