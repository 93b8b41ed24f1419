/** The text of a run's figures. */
import { expect, test } from "vitest";
import { datasetStats } from "../../src/dataset/stats.ts";
import type { JobStats, OperatorStats } from "../../src/protocol/index.ts";
import { operatorStats } from "../support/figures.ts";

type OwnPeaks = Partial<Pick<JobStats, "peakSupervisorMemory" | "peakProgramMemory">>;

function textOf(
  heldBack: OperatorStats["heldBack"],
  spilledBytes = 0,
  restoredBytes = 0,
  own: OwnPeaks = {},
  more: Partial<OperatorStats> = {},
): string {
  const peaks = {
    peakWorkerMemory: 4 * 2 ** 20,
    peakSupervisorMemory: 3 * 2 ** 20,
    peakProgramMemory: 2 * 2 ** 20,
    peakStoreBytes: 2 ** 20,
    peakUnmanaged: 0,
    grownUnmanaged: null,
    spilledBytes,
    restoredBytes,
    ...own,
  };
  return datasetStats({
    operators: [operatorStats({ heldBack, seconds: 2.1, ...more })],
    seconds: 1,
    workers: 1,
    memory: { workers: 0, limit: null, workerLimit: null, store: 0, capacity: 0, onDisk: 0 },
    ...peaks,
  }).toString();
}

test("[O4] stats speak of backpressure exactly where there was some, and name the policy", () => {
  expect(textOf({})).not.toMatch(/backpressure/i);
  expect(textOf({ DownstreamCapacityBackpressurePolicy: 0 })).not.toMatch(/backpressure/i);
  expect(textOf({ ResourceBudgetBackpressurePolicy: 1.25, ConcurrencyCapBackpressurePolicy: 0.5 })).toContain(
    "Time in backpressure: 1.3s by ResourceBudgetBackpressurePolicy, 500ms by ConcurrencyCapBackpressurePolicy",
  );
});

test("[O10] stats name the functions of a stage", () => {
  const kind = { place: "worker", isSource: false, functions: ["mapBatches(Tips)"], batchSize: 1024 } as const;
  expect(textOf({}, 0, 0, {}, { name: "mapBatches", kind })).toMatch(/^Stage 1 mapBatches\(Tips\): 1\/1 blocks/);
});

test("[D2] stats speak of spilling exactly where there was some", () => {
  expect(textOf({})).not.toMatch(/spilled|restored/i);
  expect(textOf({}, 3 * 2 ** 20, 2 ** 20)).toMatch(/^Total: .*\. Spilled 3.0 MiB, restored 1.0 MiB$/m);
  expect(textOf({}, 0, 2 ** 20)).toMatch(/Spilled 0 B, restored 1.0 MiB$/m);
});

test("[M7] stats show the memory of the supervisor and of the program beside that of workers and store", () => {
  expect(textOf({})).toContain("peak memory: worker 4.0 MiB, supervisor 3.0 MiB, program 2.0 MiB, store 1.0 MiB");
});

test("[M7] a run that ended before its own processes were read has no figures of them, and not 0", () => {
  const unread = { peakSupervisorMemory: 0, peakProgramMemory: 0 };
  expect(textOf({}, 0, 0, unread)).toMatch(/peak memory: worker 4\.0 MiB, store 1\.0 MiB$/);
});
