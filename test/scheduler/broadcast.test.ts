/** Broadcast tables: whole with every task, and gone with the operator, however it ends. */
import { expect, test } from "vitest";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { splits, Table } from "./table.ts";

test("[A9] a task that fails while it has a broadcast table fails its job, and nothing else", () => {
  const table = new Table(2, 100);
  const broadcast = [{ operators: [0], columns: [] }];
  table.start(job("j", [tasks(0, splits(1)), tasks(1, splits(2), { broadcast, sink: { kind: "count" } })]));
  table.asks(1);
  table.handsOver(1);
  expect(table.scheduler.ledger.live).toBe(PAGE);
  table.done(1);
  const [first, second] = [table.taskOf(1), table.taskOf(2)];
  expect([first, second].map(({ broadcast: tables }) => tables[0]?.length)).toEqual([1, 1]);
  const error = { name: "KernelError", message: "no such number", stack: null, fields: {} };
  table.says(1, { type: "failed", task: first.id, error });
  expect(table.wasTold("failed")[0]?.error.message).toBe("no such number");
  table.says(2, { type: "cancelled", task: second.id });
  expect(table.scheduler.ledger.live).toBe(0);
  expect(table.scheduler.jobs).toBe(0);
});
