// Reads rows of 400 bytes while the program itself keeps this many bytes.
import { session } from "spillway";

const [directory, rows, most] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const one = session({ localDirectory: directory, progress: false });
const kept = [];
let held = 0;
let read = 0;
let sum = 0;
const numbered = one.range(rows).map((row) => ({ id: row.id, text: "p".repeat(400) + row.id }));
try {
  for await (const batch of numbered.iterBatches({ batchSize: 4096 })) {
    read += batch.id.length;
    for (const id of batch.id) sum += id;
    if (held >= most) continue;
    kept.push(Buffer.alloc(5e6, 1));
    held += 5e6;
  }
  console.log(JSON.stringify({ read, sum, held }));
} catch (error) {
  const { name, reason, message } = error;
  console.log(JSON.stringify({ name, reason, message }));
}
await one.close();
