/** Broadcast tables: whole with every task, and gone with the operator, however it ends. */
import { expect, test } from "vitest";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { ScriptedSession, splits } from "./scripted-session.ts";

test("[A9] a task that fails while it has a broadcast table fails its job, and nothing else", () => {
  const session = new ScriptedSession(2, 100);
  const broadcast = [{ operators: [0], columns: [] }];
  session.start(job("j", [tasks(0, splits(1)), tasks(1, splits(2), { broadcast, sink: { kind: "count" } })]));
  session.asks(1);
  session.handsOver(1);
  expect(session.scheduler.ledger.live).toBe(PAGE);
  session.done(1);
  const [first, second] = [session.taskOf(1), session.taskOf(2)];
  expect([first, second].map(({ broadcast: tables }) => tables[0]?.length)).toEqual([1, 1]);
  const error = { name: "KernelError", message: "no such number", stack: null, fields: {} };
  session.says(1, { type: "failed", task: first.id, error });
  expect(session.wasTold("failed")[0]?.error.message).toBe("no such number");
  session.says(2, { type: "cancelled", task: second.id });
  expect(session.scheduler.ledger.live).toBe(0);
  expect(session.scheduler.jobs).toBe(0);
});
