/** The text of a run's figures. */
import { expect, test } from "vitest";
import { datasetStats } from "../../src/dataset/stats.ts";
import type { OperatorStats } from "../../src/protocol/index.ts";

const nothing = { min: 0, max: 0, mean: 0, total: 0 };

function textOf(heldBack: OperatorStats["heldBack"], spilledBytes = 0, restoredBytes = 0): string {
  const operator: OperatorStats = {
    id: 0,
    name: "map",
    tasks: 1,
    tasksDone: 1,
    retries: 0,
    oomRetries: 0,
    learned: null,
    blocks: 1,
    rowsOut: nothing,
    bytesOut: nothing,
    wall: nothing,
    cpu: nothing,
    errored: 0,
    peakMemory: 0,
    heldBack,
    skipped: { files: 0, rowGroups: 0, rows: 0, columns: 0 },
  };
  const peaks = {
    peakWorkerMemory: 4 * 2 ** 20,
    peakSupervisorMemory: 3 * 2 ** 20,
    peakProgramMemory: 2 * 2 ** 20,
    peakStoreBytes: 2 ** 20,
    spilledBytes,
    restoredBytes,
  };
  return datasetStats({ operators: [operator], seconds: 1, files: [], ...peaks }).toString();
}

test("[O4] stats speak of backpressure exactly where there was some, and name the policy", () => {
  expect(textOf({})).not.toMatch(/backpressure/i);
  expect(textOf({ DownstreamCapacityBackpressurePolicy: 0 })).not.toMatch(/backpressure/i);
  expect(textOf({ ResourceBudgetBackpressurePolicy: 1.25, ConcurrencyCapBackpressurePolicy: 0.5 })).toContain(
    "Time in backpressure: 1.3s by ResourceBudgetBackpressurePolicy, 500ms by ConcurrencyCapBackpressurePolicy",
  );
});

test("[D2] stats speak of spilling exactly where there was some", () => {
  expect(textOf({})).not.toMatch(/spilled|restored/i);
  expect(textOf({}, 3 * 2 ** 20, 2 ** 20)).toMatch(/^Total: .*\. Spilled 3.0 MiB, restored 1.0 MiB$/m);
  expect(textOf({}, 0, 2 ** 20)).toMatch(/Spilled 0 B, restored 1.0 MiB$/m);
});

test("[M7] stats show the memory of the supervisor and of the program beside that of workers and store", () => {
  expect(textOf({})).toContain("peak memory: worker 4.0 MiB, supervisor 3.0 MiB, program 2.0 MiB, store 1.0 MiB");
});
