/** Workers that the node's monitor ends although the node is full of what is not the session's. */
import { describe, expect, test } from "vitest";
import type { WorkerId } from "../../src/protocol/index.ts";
import { ended } from "../support/ends.ts";
import { MEMORY } from "../support/memory-settings.ts";
import { batched, counting, MIB, Oom } from "./starved.ts";

const LIMIT = 512 * MIB;
const KILLED = { signal: "SIGKILL", cause: "monitor" } as const;

/** Its worker had so much before its task, and has so much now; the program has so much. */
function seen(before: number, now: number, program = 0, more: Parameters<typeof counting>[1] = {}): Oom {
  const session = new Oom(1, 8, { memory: MEMORY, workerMemory: LIMIT });
  session.put();
  session.seen(before);
  session.start(counting(1, { steps: batched(1024), ...more }), 1);
  const nobody = { private: 0, shared: 0, children: 0 };
  const worker = { ...nobody, worker: 1 as WorkerId, private: now * MIB };
  session.tell({
    type: "memory",
    workers: [worker],
    supervisor: nobody,
    program: { ...nobody, private: program * MIB },
    used: null,
  });
  session.nodeUses(960);
  expect(session.happened("monitorKill")).toHaveLength(1);
  return session;
}

const AS_IT_WAS = { batchSize: null, atOnce: null, alone: false, memory: null };

describe("[M3] a task whose worker ends because others fill the node", () => {
  test("is run again as it was, later each time, and its operator learns nothing", () => {
    const session = seen(60, 150);
    session.ends(1, ended(KILLED));
    session.up(2);
    session.now += 499;
    session.tell({ type: "tick" });
    expect(session.tasksOf(2)).toEqual([]);
    session.now += 1;
    session.tell({ type: "tick" });
    expect(session.taskOf(2).batchSize).toBeUndefined();
    expect(session.needs).toEqual([AS_IT_WAS]);
    expect(session.notices().at(-1)).toMatch(/not the session's had 810 MiB\).*as it was\./);
    session.done(2);
    expect(session.wasTold("finished")[0]?.stats.operators[0]).toMatchObject({ oomRetries: 1, learned: null });
  });

  test("with more than a worker that does nothing much, as long as the task has hardly added to it", () => {
    const session = seen(200, 232);
    session.ends(1, ended(KILLED));
    expect(session.needs).toEqual([AS_IT_WAS]);
  });

  test("but asks for less where it has grown, has much of its limit, or the session has the larger part of the node", () => {
    for (const session of [seen(200, 233), seen(270, 270), seen(60, 100, 400)]) {
      session.ends(1, ended(KILLED));
      expect(session.needs).toMatchObject([{ batchSize: 512 }]);
    }
  });

  test("and where it was seen to have more before it was gone", () => {
    const session = seen(60, 150);
    session.ends(1, ended({ ...KILLED, curve: [{ at: 1, private: 151 * MIB }] }));
    expect(session.needs).toMatchObject([{ batchSize: 512 }]);
  });

  test("and where the system ended it: what it had at the last moment nobody knows", () => {
    const session = seen(60, 100);
    session.ends(1, ended({ signal: "SIGKILL", cause: "systemOom" }));
    expect(session.needs).toMatchObject([{ batchSize: 512 }]);
  });

  test("[M4] [D9] ends as any other: the error says who fills the node, and to have less there comes first", () => {
    const session = seen(60, 100, 0, { maxOomRetries: 0 });
    session.ends(1, ended(KILLED));
    const { message = "", fields } = session.error ?? {};
    expect(message).toContain("would have ended anything; processes that are not the session's had 860 MiB\n");
    expect(message).toContain("1. as it was: monitor with 100 MiB; processes that are not the session's had 860 MiB\n");
    expect(fields?.remedies).toEqual([
      "Less beside it: processes that are not the session's had 860 MiB of 1000 MiB.",
      "A machine or control group with more memory than 1000 MiB.",
    ]);
  });
});
