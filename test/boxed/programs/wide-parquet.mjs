// Parquet files of very many columns: made, mapped, summed, filtered, selected, sorted and copied. argv: directory,
// columns, rows.
import { join } from "node:path";
import { col, configure, range, readParquet, sql } from "spillway";

const [directory, columns, rows] = process.argv.slice(2);
configure({ progress: false });

const place = (name) => join(directory, name);
const names = Array.from({ length: Number(columns) }, (_, i) => `c${i}`);
await range(Number(rows))
  .select(...names.map((name, i) => sql(`(id * ${i + 1}) % 1009`).as(name)))
  .writeParquet(place("wide"));
const wide = () => readParquet(place("wide"));

async function countOf(dataset) {
  let count = 0;
  for await (const batch of dataset.iterBatches({ batchSize: 256 })) count += batch.c2.length;
  return count;
}

const mapped = await wide()
  .map((row) => ({ keys: Object.keys(row).length, sum: row.c0 + row[names.at(-1)] }))
  .takeAll();
const sorted = await wide()
  .sort("c1")
  .map((row) => ({ c1: row.c1 }))
  .takeAll();
await wide().writeParquet(place("copy"));
await wide().writeCsv(place("csv"));
console.log(
  JSON.stringify({
    mapped: mapped.length,
    keys: mapped[0].keys,
    sum: mapped.reduce((sum, row) => sum + row.sum, 0),
    one: await wide().sum("c77"),
    filtered: await countOf(wide().filter(col("c0").lt(100))),
    selected: await countOf(wide().select(...names.filter((_, i) => i % 2 === 0))),
    isSorted: sorted.every((row, i) => i === 0 || sorted[i - 1].c1 <= row.c1),
    copied: await readParquet(place("copy")).sum("c1"),
  }),
);
