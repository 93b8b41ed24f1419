/**
 * What the store costs when everything fits: a pipeline of two functions run as one operator, and as two with every
 * block handed over through the store. `npm run build && npx tsx bench/micro/store-cost.ts [rows]`
 * Compared is the CPU time of the tasks, the least of several rounds: what is added are rows put together to blocks,
 * planned, written and checksummed, then mapped and read. Wall time, shown beside it, also has waiting in it.
 */
import { type Dataset, type Session, session } from "spillway";

const ROUNDS = 7;
const rows = Number(process.argv[2] ?? 2e6);

interface Figures {
  readonly cpu: number;
  readonly wall: number;
  readonly bytes: number;
}

/** A concurrency of its own keeps a function an operator of its own. */
const APART = { concurrency: { min: 1, max: 64 } } as const;

const PIPELINES = {
  "200-byte rows, a text": (s: Session, apart: boolean): Dataset<{ sum: number }> => {
    const made = s
      .range(rows)
      .map((row) => ({ id: row.id, half: row.id / 2, text: `row ${row.id} `.padEnd(176, "spillway ") }));
    const letters = (batch: { text: readonly string[] }) => ({
      sum: [batch.text.reduce((sum, text) => sum + text.length, 0)],
    });
    return apart ? made.mapBatches(letters, APART) : made.mapBatches(letters);
  },
  "32-byte rows, numbers": (s: Session, apart: boolean): Dataset<{ sum: number }> => {
    const made = s
      .range(rows * 2)
      .map((row) => ({ id: row.id, half: row.id / 2, rest: row.id % 7, root: Math.sqrt(row.id) }));
    const roots = (batch: { root: ArrayLike<number> }) => {
      let sum = 0;
      for (let i = 0; i < batch.root.length; i++) sum += batch.root[i] ?? 0;
      return { sum: [sum] };
    };
    return apart ? made.mapBatches(roots, APART) : made.mapBatches(roots);
  },
};

async function measure(ds: Dataset<{ sum: number }>): Promise<Figures> {
  const begin = performance.now();
  await ds.takeAll();
  const { operators } = ds.stats();
  return {
    cpu: operators.reduce((sum, operator) => sum + operator.cpu.total, 0),
    wall: performance.now() - begin,
    bytes: operators.length < 2 ? 0 : (operators[0]?.bytesOut.total ?? 0),
  };
}

const least = (all: readonly Figures[], of: (figures: Figures) => number): number => Math.min(...all.map(of));

const s = session({ progress: false });
for (const [name, pipeline] of Object.entries(PIPELINES)) {
  const one: Figures[] = [];
  const two: Figures[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const together = await measure(pipeline(s, false));
    const apart = await measure(pipeline(s, true));
    // The first round compiles.
    if (round > 0) {
      one.push(together);
      two.push(apart);
    }
  }
  for (const kind of ["cpu", "wall"] as const) {
    const [fused, stored] = [least(one, (figures) => figures[kind]), least(two, (figures) => figures[kind])];
    const bytes = two[0]?.bytes ?? 0;
    process.stdout.write(
      `${name.padEnd(24)} ${kind.padEnd(5)} one operator ${fused.toFixed(0)} ms, through the store ${stored.toFixed(0)} ms: ` +
        `+${(100 * (stored / fused - 1)).toFixed(1)} % (${(bytes / 1e6).toFixed(0)} MB, ${((stored - fused) / (bytes / 1e9)).toFixed(0)} ms a GB)\n`,
    );
  }
}
await s.close();
