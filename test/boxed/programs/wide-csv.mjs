// A CSV file of 100 rows and very many columns, counted and mapped. argv: directory, columns.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { configure, readCsv } from "spillway";

const [directory, columns] = process.argv.slice(2);
configure({ progress: false });

const names = Array.from({ length: Number(columns) }, (_, i) => `c${i}`);
const lines = Array.from({ length: 100 }, (_, r) => names.map((_, i) => (i % 2 === 0 ? r + i : `${r}.5`)).join());
const path = join(directory, "wide.csv");
writeFileSync(path, `${names.join()}\n${lines.map((line) => `${line}\n`).join("")}`);

const counted = await readCsv(path).count();
const rows = await readCsv(path)
  .map((row) => ({ sum: row.c0 + row.c1 + row.c1498 }))
  .takeAll();
console.log(JSON.stringify({ counted, last: rows.at(-1) }));
