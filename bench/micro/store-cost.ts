/**
 * What the store costs when everything fits. Two functions run as one operator, and as two operators with every block
 * passing through the store. Both variants put the first function's rows into Arrow columns and take them out for the
 * second. The difference is the store's work: combining rows into blocks, asking for room and granting it, pages,
 * writing bytes and checksums, messages and the ledger, the tasks of a second operator, mapping blocks and reading them
 * from uncached memory. It compares the CPU time of all processes of the session and the program, the least of several
 * alternating rounds. Below that it lists what the steps of the worker take by themselves. Linux. `npm run build && npx
 * tsx bench/micro/store-cost.ts [rows]`
 */
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { crc32 } from "node:zlib";
import { type Dataset, type Session, session } from "spillway";
import { BlockBuilder, planBlock, type RecordBatch, RowBuilder, readBlock, toColumns } from "../../src/arrow/index.ts";
import { createArena, removeArena } from "../../src/store/index.ts";
import { MappedArena } from "../../src/store/mapping.ts";

const ROUNDS = 7;
const rows = Number(process.argv[2] ?? 2e6);

/** A concurrency of its own keeps a function in an operator of its own. */
const APART = { concurrency: { min: 1, max: 64 } } as const;

const PIPELINES: Readonly<Record<string, (s: Session, apart: boolean) => Dataset<{ sum: number }>>> = {
  "text of 176 bytes made, its length": (s, apart) => {
    const made = s
      .range(rows)
      .map((row) => ({ id: row.id, half: row.id / 2, text: `row ${row.id} `.padEnd(176, "spillway ") }));
    const letters = (batch: { text: readonly string[] }) => ({
      sum: [batch.text.reduce((sum, text) => sum + text.length, 0)],
    });
    return apart ? made.mapBatches(letters, APART) : made.mapBatches(letters);
  },
  "four numbers made, one summed": (s, apart) => {
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
  "log lines parsed, bytes of a status": (s, apart) => {
    const made = s.range(rows).map((row) => {
      const line = `10.0.${row.id % 251}.${row.id % 241} - - [10/Oct/2025:13:55:${10 + (row.id % 50)} +0000] "GET /items/${row.id}?page=${row.id % 97} HTTP/1.1" ${row.id % 11 === 0 ? 404 : 200} ${row.id % 50000}`;
      const found = /^(\S+) \S+ \S+ \[([^\]]+)\] "(\S+) (\S+) [^"]*" (\d+) (\d+)$/.exec(line) ?? [];
      return {
        host: found[1] ?? "",
        time: found[2] ?? "",
        path: (found[4] ?? "").split("?")[0] ?? "",
        status: Number(found[5]),
        bytes: Number(found[6]),
      };
    });
    const served = (batch: { status: ArrayLike<number>; bytes: ArrayLike<number> }) => {
      let sum = 0;
      for (let i = 0; i < batch.bytes.length; i++) if (batch.status[i] === 200) sum += batch.bytes[i] ?? 0;
      return { sum: [sum] };
    };
    return apart ? made.mapBatches(served, APART) : made.mapBatches(served);
  },
};

interface Figures {
  /** CPU time of all processes, in milliseconds. */
  readonly cpu: number;
  readonly wall: number;
  /** Bytes passed from one function to the other. */
  readonly bytes: number;
}

async function measure(ds: Dataset<{ sum: number }>): Promise<Figures> {
  const before = cpuOf(process.pid);
  const begin = performance.now();
  await ds.takeAll();
  const wall = performance.now() - begin;
  const { operators } = ds.stats();
  const bytes = operators.length < 2 ? 0 : (operators[0]?.bytesOut.total ?? 0);
  return { cpu: cpuOf(process.pid) - before, wall, bytes };
}

/** Milliseconds that the threads of a process and of its descendants have run. */
function cpuOf(pid: number): number {
  let ms = 0;
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      ms += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]) / 1e6;
      const children = readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ");
      for (const child of children) if (child !== "") ms += cpuOf(Number(child));
    }
  } catch {
    // The process has ended meanwhile.
  }
  return ms;
}

const least = (all: readonly Figures[], of: (figures: Figures) => number): number => Math.min(...all.map(of));

async function compare(s: Session, name: string): Promise<void> {
  const pipeline = PIPELINES[name];
  if (pipeline === undefined) return;
  const one: Figures[] = [];
  const two: Figures[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const together = await measure(pipeline(s, false));
    const apart = await measure(pipeline(s, true));
    // The first round compiles the code.
    if (round === 0) continue;
    one.push(together);
    two.push(apart);
  }
  const bytes = two[0]?.bytes ?? 0;
  process.stdout.write(`${name}: ${(bytes / 1e6).toFixed(0)} MB through the store\n`);
  for (const kind of ["cpu", "wall"] as const) {
    const [fused, stored] = [least(one, (figures) => figures[kind]), least(two, (figures) => figures[kind])];
    const added = stored - fused;
    process.stdout.write(
      `  ${kind.padEnd(4)} ${fused.toFixed(0)} ms without, ${stored.toFixed(0)} ms with: ` +
        `+${((100 * added) / fused).toFixed(1)} %, ${((added * 1e9) / bytes).toFixed(0)} ms a GB of ${((fused * 1e9) / bytes).toFixed(0)}\n`,
    );
  }
}

/** One block of text rows through each step. Its pages were touched before, as in a pipeline under way. */
function steps(): void {
  const builder = new RowBuilder();
  for (let id = 0; id < 4096; id++) builder.append({ id, half: id / 2, text: `row ${id} `.padEnd(176, "spillway ") });
  const piece = builder.finish();
  const pieces = 64;
  const block = new BlockBuilder();
  const held = (): RecordBatch => {
    for (let i = 0; i < pieces; i++) block.append(piece);
    const batch = block.finish();
    if (batch === null) throw new Error("nothing was put together");
    return batch;
  };
  const length = planBlock(held()).byteLength;
  const arena = createArena(`store-cost-${process.pid}`, 2 * length, tmpdir());
  const mapped = new MappedArena(arena.place);
  const range = { offset: 0, length };
  const target = mapped.writable(range);
  const parts: Readonly<Record<string, () => void>> = {
    "rows put together": held,
    "pages made sure of": () => mapped.writable(range),
    "bytes written": () => planBlock(held()).write(target),
    checksum: () => crc32(target),
    "block read (its columns as views)": () => readBlock(target),
    "(not the store's: columns taken out again)": () => toColumns(readBlock(target)),
  };
  process.stdout.write(`The steps of a worker for a block of ${(length / 1e6).toFixed(0)} MB, ms a GB\n`);
  const taken = new Map<string, number>();
  for (const [name, step] of Object.entries(parts)) {
    const times = Array.from({ length: 12 }, () => {
      const { user, system } = process.cpuUsage();
      step();
      const after = process.cpuUsage();
      return (after.user + after.system - user - system) / 1000;
    });
    const ms = Math.min(...times);
    taken.set(name, ms);
    const own = name === "bytes written" ? ms - (taken.get("rows put together") ?? 0) : ms;
    process.stdout.write(`  ${((own * 1e9) / length).toFixed(0).padStart(5)}  ${name}\n`);
  }
  mapped.close();
  removeArena(arena);
}

const s = session({ progress: false });
for (const name of Object.keys(PIPELINES)) await compare(s, name);
await s.close();
steps();
