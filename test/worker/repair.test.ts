/** A whole task, run again for one of its blocks. */
import { afterAll, expect, test } from "vitest";
import { OwnPeak } from "../../src/memory/index.ts";
import type { JobId, TaskId, TaskOrder, WorkerOperator } from "../../src/protocol/index.ts";
import { LeasedKernel } from "../../src/worker/leased-kernel.ts";
import { LoadedOperator } from "../../src/worker/loaded-operator.ts";
import { RunningTask } from "../../src/worker/task.ts";
import { InventedOutlet } from "./invented-outlet.ts";

const ROWS = 500_000;
const kernel = new LeasedKernel();
afterAll(() => kernel.close());

const job = "j" as JobId;
const spec: WorkerOperator = {
  id: 0,
  name: "range->select",
  // The second step takes morsels, and holds some back until its input ends.
  steps: [
    { kind: "sql", operator: "select", sql: "SELECT range AS id FROM {input}" },
    { kind: "sql", operator: "select", sql: "SELECT id, id * 2 AS twice FROM {input}" },
  ],
  sink: { kind: "blocks", targetBytes: 500_000, minBytes: 1000 },
  maxRowsPerTask: null,
  setsOrder: false,
  broadcast: [],
};
const first: TaskOrder = {
  id: "j/0/0" as TaskId,
  job,
  operator: 0,
  index: 0,
  attempt: 0,
  input: { kind: "sql", sql: `range(0, ${ROWS})`, files: [] },
  payloads: [],
  broadcast: [],
  devices: null,
  handedOver: [],
};

async function run(task: TaskOrder) {
  const outlet = new InventedOutlet();
  const operator = new LoadedOperator(job, spec, outlet.arena);
  const report = await new RunningTask(task, operator, kernel, outlet, new OwnPeak()).run();
  return { outlet, report };
}

test("[D5] a repair gives the one block again, and reads no further than it needs", async () => {
  const { outlet: before, report } = await run(first);
  expect(report.rowsIn).toBe(ROWS);
  expect(before.blocks.length).toBeGreaterThan(15);
  const last = before.blocks.length - 1;
  for (const repair of [0, 5, last]) {
    const again = await run({ ...first, attempt: 1, handedOver: before.blocks, repair });
    expect(again.outlet.blocks).toEqual([before.blocks[repair]]);
    expect(again.outlet.reserved).toBe(1);
    expect(again.report.rowsOut).toBe(before.blocks.slice(0, repair + 1).reduce((sum, { rows }) => sum + rows, 0));
    if (repair < last) expect(again.report.rowsIn).toBeLessThan((ROWS * (repair + 2.5)) / before.blocks.length);
  }
});
