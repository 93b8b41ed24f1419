/**
 * Where the border of wide rows lies: a sort of rows of several widths, in the kernel and by reference, with the
 * worker's own code in one process: `npx tsx bench/micro/cargo.ts [MiB of rows] [MiB of lease] [least
 * bytes of a row]`. Shows seconds, best
 * of several runs, and the ratio of by reference to in the kernel; "no memory": the kernel could not do it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SeenColumns } from "../../src/protocol/index.ts";

process.env.SPILLWAY_TEST_CARGO_BORDER = "0";
const { columns, operatorOf, sqlStep, TestTask, taskOf } = await import("../../test/worker/task-bench.ts");
const { LeasedKernel } = await import("../../src/worker/leased-kernel.ts");
const { KernelMemoryError } = await import("../../src/errors/index.ts");

const MIB = 2 ** 20;
const RUNS = 2;
const WIDTHS = [50, 200, 500, 1000, 2000, 4000, 8000, 16_000, 64_000, MIB];
const BLOCK_BYTES = 8 * MIB;

const bytes = Number(process.argv[2] ?? 256) * MIB;
const lease = Number(process.argv[3] ?? 1024) * MIB;
const least = Number(process.argv[4] ?? 0);
const directory = mkdtempSync(join(tmpdir(), "cargo-bench-"));
const kernel = new LeasedKernel();
kernel.spillBelow(directory, 1 as never);
await kernel.take({ threads: lease < 512 * MIB ? 1 : 2, memory: lease });

function* blocks(width: number) {
  const rows = Math.ceil(bytes / width);
  const each = Math.max(1, Math.floor(BLOCK_BYTES / width));
  const text = "y".repeat(width);
  for (let start = 0; start < rows; start += each) {
    const count = Math.min(each, rows - start);
    yield columns({
      k: Float64Array.from({ length: count }, (_, i) => ((start + i) * 7919 + 13) % 2_000_003),
      t: Array.from({ length: count }, () => text),
    });
  }
}

const KEYS: SeenColumns = { read: ["k"], matched: [], ordered: [] };

async function seconds(width: number, sees: SeenColumns | null): Promise<number | null> {
  const order = taskOf({ kind: "fed", tables: [[]], sees: [sees] });
  const task = new TestTask(
    kernel,
    operatorOf([sqlStep("SELECT * FROM {t0} ORDER BY k")], {
      sink: { kind: "blocks", targetBytes: 2 * BLOCK_BYTES, minBytes: false },
    }),
    order,
  );
  for (const block of blocks(width)) task.feed(0, block);
  const started = performance.now();
  try {
    await task.finish();
  } catch (error) {
    if (!(error instanceof KernelMemoryError)) throw error;
    await kernel.renewIfBroken();
    return null;
  }
  return (performance.now() - started) / 1000;
}

async function best(width: number, sees: SeenColumns | null): Promise<number | null> {
  let least: number | null = null;
  for (let run = 0; run < RUNS; run++) {
    const took = await seconds(width, sees);
    if (took === null) return null;
    least = Math.min(least ?? took, took);
  }
  return least;
}

try {
  for (const width of WIDTHS.filter((each) => each >= least)) {
    const inKernel = await best(width, null);
    const byReference = await best(width, KEYS);
    const told = (took: number | null) => (took === null ? "no memory" : `${took.toFixed(2)} s`);
    const ratio = inKernel === null || byReference === null ? "" : (byReference / inKernel).toFixed(2);
    console.log(
      `${String(width).padStart(8)} bytes  kernel ${told(inKernel)}  by reference ${told(byReference)}  ${ratio}`,
    );
  }
} finally {
  kernel.close();
  rmSync(directory, { recursive: true, force: true });
}
