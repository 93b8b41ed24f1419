/**
 * What the compiler knows of sessions: options by name and form, what calls return, what errors tell. Nothing here
 * runs.
 */
import type { Session } from "../../src/index.ts";
import { type DeathReason, OutOfMemoryError, session, WorkerDiedError, workerData } from "../../src/index.ts";
import { test, valueIs } from "./expected.ts";

declare const open: Session;
declare const thrown: unknown;

test("[K8] every setting has its forms, and no other", () => {
  session({ memoryLimit: "2 GiB", worker: { memory: { target: 0.5, spill: false, recentToOldTime: "1m" } } });
  session({ memoryLimit: 0, memoryUsageThreshold: false, allocator: "jemalloc", measure: "managed" });
  // @ts-expect-error there is no such setting
  session({ memorylimit: "2 GiB" });
  // @ts-expect-error nor such a threshold
  session({ worker: { memory: { pauze: 0.8 } } });
  // @ts-expect-error a share is a number
  session({ worker: { memory: { target: "60%" } } });
  // @ts-expect-error true is no threshold
  session({ worker: { memory: { pause: true } } });
  // @ts-expect-error one of a few
  session({ measure: "all" });
  // @ts-expect-error null is no value
  session({ memoryLimit: null });
  // @ts-expect-error levels are objects here
  session({ "worker.memory.target": 0.5 });
});

test("[K1] a limit that is changed takes what the option takes", () => {
  open.setMemoryLimit("auto");
  open.setMemoryLimit(false);
  // @ts-expect-error nothing is no limit
  open.setMemoryLimit();
  // @ts-expect-error as in the option
  open.setMemoryLimit(true);
});

test("[K11] run: arguments are the function's, values what it returns, awaited", async () => {
  for (const { value } of await open.run(async (n: number) => String(n), 1)) valueIs<string>()(value);
  // @ts-expect-error of another type
  open.run((n: number) => n, "1");
});

test("[K14] worker data, what makes it, or that with arguments", () => {
  session({ data: new Map() });
  session({ data: [(size: number) => new Map([[size, size]]), 3] });
  valueIs<Map<unknown, unknown>>()(workerData());
  // @ts-expect-error it has none of the methods
  session({ data: 3 });
});

test("[D4] the cause of a death is one of those that there are", () => {
  if (thrown instanceof WorkerDiedError) valueIs<DeathReason>()(thrown.reason);
  if (thrown instanceof OutOfMemoryError) {
    // @ts-expect-error there is no such cause
    return thrown.reason === "oom";
  }
  return null;
});
