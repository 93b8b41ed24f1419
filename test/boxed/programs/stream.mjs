// 2 GB of made-up rows through a row function and a batch function, counted or written; nothing but defaults.
import { join } from "node:path";
import { configure, range } from "spillway";

const [directory, sink, bytes = "2e9"] = process.argv.slice(2);
// A row is 200 bytes of Arrow: a text of 176 with its offset, and two numbers and a half.
const rows = Math.round(Number(bytes) / 200);
configure({ progress: false });

const ds = range(rows)
  .map((row) => ({ id: row.id, half: row.id / 2, text: `row ${row.id} `.padEnd(176, "spillway ") }))
  .mapBatches((batch) => ({
    id: batch.id,
    half: batch.half,
    text: batch.text,
    letters: batch.text.map((text) => text.length),
  }));

if (sink === "count") {
  console.log(JSON.stringify({ rows: await ds.count() }));
} else {
  const out = join(directory, "out");
  const written = await ds.writeParquet(out);
  console.log(JSON.stringify({ rows: await range(1).count() === 1 ? written.rows : 0 }));
}
