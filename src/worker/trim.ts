/**
 * Gives back to the system what this worker does not need: garbage, buffers kept for the next job, the kernel's stock,
 * free memory of the C library. A step that is impossible is named in the report, and the other steps are still done.
 */
import { dropSpareMemory } from "../arrow/index.ts";
import { collectGarbage, procGauge } from "../memory/index.ts";
import { mallocTrim, whyNoMallocTrim } from "../native/index.ts";
import type { Bytes, TrimReport, WorkerId } from "../protocol/index.ts";
import { messageOf } from "../realm/index.ts";
import type { LeasedKernel } from "./leased-kernel.ts";

export async function trim(worker: WorkerId, kernel: Pick<LeasedKernel, "giveBack">): Promise<TrimReport> {
  const skipped: string[] = [];
  const step = async (name: string, take: () => unknown) => {
    try {
      await take();
    } catch (error) {
      skipped.push(`${name}: ${messageOf(error)}`);
    }
  };
  const before = privateMemory();
  dropSpareMemory();
  await step("garbage collection", collectTwice);
  await step("kernel", () => kernel.giveBack());
  const why = whyNoMallocTrim();
  if (why === null) await step("malloc_trim", mallocTrim);
  else skipped.push(`malloc_trim: ${why}`);
  return { worker, before, after: privateMemory(), skipped };
}

/** The second collection frees what the first one found to be dead: buffers are freed in the background. */
async function collectTwice(): Promise<void> {
  await collectGarbage();
  await collectGarbage();
}

function privateMemory(): Bytes {
  return procGauge.process(process.pid)?.private ?? process.memoryUsage().rss;
}
