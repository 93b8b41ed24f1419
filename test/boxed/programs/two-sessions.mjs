// Two sessions of one program, each of which sorts, keeps and filters rows of 300 bytes.
import { session } from "spillway";

const [directory, rows] = [process.argv[2], Number(process.argv[3])];
const kinds = {};

async function work() {
  const one = session({ localDirectory: directory, progress: false, shareNode: true });
  one.onEvent(({ type }) => {
    kinds[type] = (kinds[type] ?? 0) + 1;
  });
  const numbered = one.range(rows).map((row) => ({ key: (row.id * 7919) % 1_000_003, text: "t".repeat(300) + row.id }));
  let sorted = 0;
  let last = -1;
  for await (const batch of numbered.sort("key").iterBatches({ batchSize: 4096 })) {
    for (const key of batch.key) {
      if (key < last) throw new Error(`${key} after ${last}`);
      last = key;
    }
    sorted += batch.key.length;
  }
  const kept = await numbered.materialize();
  const counted = await kept.filter((row) => row.key % 2 === 0).count();
  await one.close();
  return { sorted, counted };
}

const results = await Promise.all([work(), work()]);
console.log(JSON.stringify({ results, shared: (kinds.nodeShare ?? 0) > 0 }));
