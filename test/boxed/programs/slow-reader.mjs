// Blocks made much faster than the program reads them: what is not read must wait, and not pile up. argv: directory,
// bytes.
import { setTimeout as pause } from "node:timers/promises";
import { configure, range } from "spillway";
import { rowsOf, wide } from "./rows.mjs";

const [, bytes] = process.argv.slice(2);
configure({ progress: false });

let rows = 0;
let sum = 0;
let batches = 0;
for await (const batch of range(rowsOf(Number(bytes)))
  .map(wide)
  .iterBatches({ batchSize: 16_384 })) {
  rows += batch.id.length;
  for (const id of batch.id) sum += id;
  batches += 1;
  // Slower than the workers, by far: a break in every eighth batch.
  if (batches % 8 === 0) await pause(20);
}
console.log(JSON.stringify({ rows, sum }));
