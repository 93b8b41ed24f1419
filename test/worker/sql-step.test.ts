/** How many rows of a function a SQL step takes at once. */
import { afterAll, expect, test } from "vitest";
import { type RecordBatch, toRows } from "../../src/arrow/index.ts";
import { Kernel } from "../../src/kernel/index.ts";
import { SqlStep } from "../../src/worker/steps/sql-step.ts";
import { columns } from "./task-bench.ts";

const kernel = Kernel.open({ threads: 1 });
const connection = kernel.connect();
afterAll(() => {
  connection.close();
  kernel.close();
});

async function counts(shrinks: boolean): Promise<unknown[]> {
  const made: unknown[] = [];
  const sink = {
    push: (batch: RecordBatch) => void made.push(...toRows(batch, {}).map(({ n }) => n)),
    end: () => {},
    close: () => {},
    wanted: Number.POSITIVE_INFINITY,
    takesEach: true,
  };
  const scope = { check: () => {}, turn: () => {}, errored: () => {}, files: [], blamesRows: false };
  const step = new SqlStep("sql", "SELECT count(*)::INTEGER AS n FROM {input}", connection, sink, scope, shrinks);
  const batch = columns({ x: new Int32Array(8192) });
  for (let i = 0; i < 20; i++) await step.push(batch);
  await step.end();
  step.close();
  return made;
}

test("[A8] a step that makes fewer rows takes many at once, others a few", async () => {
  expect(await counts(true)).toEqual([131_072, 32_768]);
  expect(await counts(false)).toEqual(Array.from({ length: 10 }, () => 16_384));
});
