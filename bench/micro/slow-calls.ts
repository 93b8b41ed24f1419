/**
 * What a few slow calls among many fast ones cost: 20,000 rows, 200 calls under way, one call in a hundred takes a
 * second. For each form of function it compares the time of its task with the ideal: calls started in order, each as
 * soon as one of 200 slots is free, with this machine's timers. It also shows how much more memory the worker takes
 * than for the same rows without waiting. `npm run build && npx tsx bench/micro/slow-calls.ts [rows]`
 */
import { type AnyRow, type Dataset, session } from "spillway";

const rows = Number(process.argv[2] ?? 20_000);
const AT_ONCE = 200;
const FAST_MS = 5;
const SLOW_MS = 1000;
const options = { maxInFlight: AT_ONCE } as const;

const s = session({ workers: 1, progress: false });

/** One in a hundred, at varying distances. */
const isSlow = (id: number) => ((id * 2654435761) >>> 0) % 100 === 7;

async function answer(id: number, slow = SLOW_MS): Promise<{ id: number; text: string }> {
  await new Promise((resolve) => setTimeout(resolve, isSlow(id) ? slow : FAST_MS));
  return { id, text: `answer ${id}` };
}

const forms: Readonly<Record<string, (slow: number) => Dataset<AnyRow>>> = {
  map: (slow) => source().map((row) => answer(row.id, slow), options),
  flatMap: (slow) => source().flatMap(async (row) => [await answer(row.id, slow)], options),
  "flatMap of an async generator": (slow) =>
    source().flatMap(async function* (row) {
      yield await answer(row.id, slow);
    }, options),
  filter: (slow) => source().filter(async (row) => (await answer(row.id, slow)).id >= 0, options),
  "mapBatches of a row each": (slow) =>
    source().mapBatches(
      async (batch) => {
        const made = await answer(batch.id[0] ?? 0, slow);
        return { id: [made.id], text: [made.text] };
      },
      { ...options, batchSize: 1 },
    ),
};

function source(): Dataset<{ id: number }> {
  return s.range(rows, { overrideNumBlocks: 1 });
}

/** The same calls in this process, with nothing around them. */
async function ideal(): Promise<number> {
  const started = performance.now();
  let next = 0;
  const lane = async () => {
    while (next < rows) await answer(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return performance.now() - started;
}

async function measured(dataset: Dataset<AnyRow>): Promise<{ readonly wall: number; readonly memory: number }> {
  const found = (await dataset.takeAll()).length;
  if (found !== rows) throw new Error(`${found} rows came of ${rows}`);
  const [operator] = dataset.stats().operators;
  return { wall: operator?.wall.max ?? Number.NaN, memory: operator?.peakMemory ?? Number.NaN };
}

const best = await ideal();
console.log(`${"ideal".padEnd(30)} ${best.toFixed(0).padStart(6)} ms`);
for (const [name, form] of Object.entries(forms)) {
  const without = await measured(form(FAST_MS));
  const { wall, memory } = await measured(form(SLOW_MS));
  const more = Math.max(0, memory - without.memory) / 2 ** 20;
  console.log(
    `${name.padEnd(30)} ${wall.toFixed(0).padStart(6)} ms   × ${(wall / best).toFixed(2)}   ${more.toFixed(1)} MiB more`,
  );
}
await s.close();
