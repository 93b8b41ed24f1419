/**
 * What `mallocTrimThreshold` costs and gains: `npm run build && npx tsx bench/micro/trim-threshold.ts [rounds]`. Two
 * loads in one worker, with several thresholds in turn. The first allocates, writes and drops buffers of 4 MB, eight
 * alive at a time, both JavaScript's (freed by the collector) and C's (freed at once). The second is a row function
 * over a Parquet file. Shows CPU seconds of the worker, because a busy machine stretches other times, and its private
 * memory before and after `session.trim()`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SessionOptions, session } from "spillway";

const THRESHOLDS: readonly SessionOptions["mallocTrimThreshold"][] = ["64 KiB", "1 MiB", "16 MiB", "128 MiB", false];
const ROUNDS = Number(process.argv[2] ?? 3);
const ROWS = 3_000_000;

interface Figures {
  readonly buffers: number;
  readonly native: number;
  readonly rows: number;
  readonly after: number;
  readonly trimmed: number;
}

const directory = mkdtempSync(join(tmpdir(), "spillway-bench-trim-"));
const parquet = join(directory, "rows");
const koffi = import.meta.resolve("koffi");

/** CPU seconds for 400 buffers of 4 MB. */
function buffers(): number {
  const before = process.cpuUsage();
  const alive: (Buffer | undefined)[] = new Array(8);
  for (let i = 0; i < 400; i++) alive[i % 8] = Buffer.allocUnsafeSlow(4_000_000).fill(i);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** The same with malloc and free. */
async function native(url: string): Promise<number> {
  const { default: c } = await import(url);
  const libc = c.load("libc.so.6");
  const malloc = libc.func("uint64 malloc(uint64 size)");
  const memset = libc.func("uint64 memset(uint64 at, int value, uint64 size)");
  const free = libc.func("void free(uint64 at)");
  const before = process.cpuUsage();
  const alive: bigint[] = new Array(8).fill(0);
  for (let i = 0; i < 400; i++) {
    free(alive[i % 8]);
    alive[i % 8] = malloc(4_000_000);
    memset(alive[i % 8], 1, 4_000_000);
  }
  for (const address of alive) free(address);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

async function measure(mallocTrimThreshold: SessionOptions["mallocTrimThreshold"]): Promise<Figures> {
  const s = session({
    workers: 1,
    progress: false,
    ...(mallocTrimThreshold === undefined ? {} : { mallocTrimThreshold }),
  });
  try {
    const one = async <T>(asked: Promise<{ value: T }[]>): Promise<T> => {
      const [first] = await asked;
      if (first === undefined) throw new Error("no worker answered");
      return first.value;
    };
    const bufferSeconds = await one(s.run(buffers));
    const nativeSeconds = await one(s.run(native, koffi));
    const before = await one(s.run(cpu));
    await s
      .readParquet<{ id: number; text: string }>(parquet)
      .map((row) => ({ id: row.id, text: row.text.toUpperCase(), length: row.text.length }))
      .count();
    const rows = (await one(s.run(cpu))) - before;
    const { workers } = await s.trim();
    const [report] = workers;
    return {
      buffers: bufferSeconds,
      native: nativeSeconds,
      rows,
      after: (report?.before ?? 0) / 2 ** 20,
      trimmed: (report?.after ?? 0) / 2 ** 20,
    };
  } finally {
    await s.close();
  }
}

try {
  const writer = session({ workers: 1, progress: false });
  await writer
    .range(ROWS)
    .map((row) => ({ id: row.id, text: `the text of row ${row.id}` }))
    .writeParquet(parquet);
  await writer.close();
  const results = new Map(THRESHOLDS.map((threshold) => [threshold, [] as Figures[]]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const threshold of THRESHOLDS) results.get(threshold)?.push(await measure(threshold));
  }
  console.log("threshold  buffers s  malloc s  rows s  own MiB after  after trim   (medians)");
  for (const [threshold, figures] of results) {
    const median = (pick: (figure: Figures) => number) =>
      figures.map(pick).sort((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN;
    const shown = [
      median((f) => f.buffers)
        .toFixed(2)
        .padStart(9),
      median((f) => f.native)
        .toFixed(2)
        .padStart(8),
      median((f) => f.rows)
        .toFixed(2)
        .padStart(6),
      median((f) => f.after)
        .toFixed(0)
        .padStart(13),
      median((f) => f.trimmed)
        .toFixed(0)
        .padStart(10),
    ];
    console.log(`${String(threshold === false ? "glibc's" : threshold).padEnd(9)}  ${shown.join("  ")}`);
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
