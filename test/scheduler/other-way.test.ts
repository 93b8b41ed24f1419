/** Another way for a wide operator while its job runs, each decision shown alone. */
import { expect, test } from "vitest";
import type { FedTable, Gather, JobId, OperatorId, TaskOperator } from "../../src/protocol/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { ScriptedSession, splits } from "./scripted-session.ts";

const WIDE = 9;

const fed = (gather: Gather, ...ids: OperatorId[]): TaskOperator["input"] => {
  const table: FedTable = { operators: ids, columns: [] };
  return { kind: "fed", tables: [table], gather };
};
const wide = (id: number, input: number, otherWay: "spare" | "first" = "spare") =>
  tasks(id, fed({ kind: "all" }, input), { place: "wide", otherWay });
const instead = [
  tasks(5, { kind: "operators", operators: [0] }),
  tasks(6, fed({ kind: "parts", count: 1 }, 5)),
] as const;
const LACK = { name: "KernelMemoryError", message: "too much", stack: null, fields: {} };

function started(otherWay: "spare" | "first" = "spare") {
  const session = new ScriptedSession(1, 100);
  session.start(
    job("j", [tasks(0, splits(2)), wide(1, 0, otherWay), tasks(2, { kind: "operators", operators: [1] })]),
    10,
  );
  if (otherWay === "spare") session.up(WIDE, { isWide: true });
  return session;
}

function makes(session: ScriptedSession): void {
  session.asks(1);
  session.handsOver(1, 3);
  session.done(1);
}

function reads(session: ScriptedSession): void {
  const { id } = session.taskOf(WIDE);
  const fedSoFar = session.toWorker(WIDE).filter((one) => one.type === "feed" && one.task === id).length;
  for (let i = 0; i < fedSoFar; i++) session.says(WIDE, { type: "fed", task: id });
}

function fails(session: ScriptedSession): void {
  session.says(WIDE, { type: "failed", task: session.taskOf(WIDE).id, error: LACK });
}

/** Nobody counts memory here, so there is nothing to try after the first failure. */
test("[D1] when nothing is left to try, the program is asked as soon as all input is there and its bytes are known", () => {
  const session = started();
  makes(session);
  fails(session);
  expect(session.wasTold("failed")).toEqual([]);
  expect(session.wasTold("otherWay")).toEqual([]);
  makes(session);
  expect(session.wasTold("otherWay")).toMatchObject([{ job: "j", operator: 1, made: [{ operator: 0 }] }]);
  expect(session.wasTold("otherWay")[0]?.made[0]?.bytes).toBe(session.scheduler.ledger.live);
});

test("[D1] the operators of the other way read what the wide one was fed, and feed whom it would have fed", () => {
  const session = started();
  makes(session);
  reads(session);
  makes(session);
  fails(session);
  session.program({ type: "wayPlanned", job: "j" as JobId, operator: 1, operators: instead });
  const order: string[] = [];
  for (let i = 0; i < 10 && session.wasTold("finished").length === 0; i++) {
    const { id } = session.taskOf(1);
    if (order.at(-1) === id) break;
    order.push(id);
    const feeds = session.toWorker(1).filter((one) => one.type === "feed" && one.task === id).length;
    for (let read = 0; read < feeds; read++) session.says(1, { type: "fed", task: session.taskOf(1).id });
    makes(session);
    session.program({
      type: "release",
      blocks: session
        .wasTold("output")
        .slice(-1)
        .map(({ slice }) => slice.block.id),
    });
  }
  expect(new Set(order.map((id) => id.split("/")[1]))).toEqual(new Set(["5", "6", "2"]));
  expect(session.wasTold("finished")).toHaveLength(1);
  expect(session.wasTold("finished")[0]?.stats.operators.map(({ id, ranAs }) => [id, ranAs])).toEqual([
    [0, undefined],
    [1, "exchange"],
    [2, undefined],
    [5, undefined],
    [6, undefined],
  ]);
});

test("[D1] where the kernel failed in an earlier run, it is not tried again", () => {
  const session = started("first");
  makes(session);
  makes(session);
  expect(session.ordered("spawnWide")).toBe(0);
  expect(session.wasTold("otherWay")).toHaveLength(1);
});

test("[D1] a job whose other way cannot be planned fails with the reason, and leaves nothing", () => {
  const session = started("first");
  makes(session);
  makes(session);
  const error = { name: "OptionError", message: "no plan", stack: null, fields: {} };
  session.program({ type: "wayPlanned", job: "j" as JobId, operator: 1, error });
  expect(session.wasTold("failed")[0]?.error.message).toBe("no plan");
  expect(session.scheduler.ledger.live).toBe(0);
});

test("[D1] the answer for a job that was cancelled meanwhile changes nothing", () => {
  const session = started("first");
  makes(session);
  makes(session);
  session.program({ type: "cancel", job: "j" as JobId });
  session.program({ type: "wayPlanned", job: "j" as JobId, operator: 1, operators: instead });
  expect(session.scheduler.ledger.live).toBe(0);
  expect(session.tasksOf(1).filter((id) => id.startsWith("j/5"))).toEqual([]);
});
