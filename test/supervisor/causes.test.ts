/** Facts to causes, counters to attributions: what needs no process. */
import { expect, test } from "vitest";
import type { MemoryGauge } from "../../src/memory/index.ts";
import { noticeText } from "../../src/notices/index.ts";
import { causeOfDeath, type DeathFacts } from "../../src/supervisor/deaths.ts";
import { DeathSummary } from "../../src/supervisor/summary.ts";
import { beforeItsEnd, Witness } from "../../src/supervisor/witness.ts";
import { TestClock } from "../support/clock.ts";

const NONE = { container: 0, machine: 0, ours: 0 };

function cause(facts: Partial<DeathFacts>) {
  return causeOfDeath({ exitCode: null, signal: null, order: null, words: "", oomKills: NONE, ...facts });
}

test("[D4] every death has its own cause", () => {
  expect(cause({ signal: "SIGKILL", oomKills: { container: 0, machine: 1, ours: 1 } })).toBe("systemOom");
  expect(cause({ signal: "SIGKILL", oomKills: { container: 1, machine: 1, ours: 1 } })).toBe("cgroupOom");
  expect(cause({ signal: "SIGKILL", order: "monitor" })).toBe("monitor");
  // A kill of the system's that was counted at the same time cannot be called one that did not happen.
  expect(cause({ signal: "SIGKILL", order: "monitor", oomKills: { container: 1, machine: 1, ours: 1 } })).toBe(
    "cgroupOom",
  );
  expect(cause({ signal: "SIGKILL", order: "monitor", oomKills: { container: 0, machine: 1, ours: 0 } })).toBe(
    "monitor",
  );
  expect(cause({ signal: "SIGTERM", order: "terminate" })).toBe("terminate");
  // A function may handle SIGTERM, and leave by the door.
  expect(cause({ exitCode: 0, order: "terminate" })).toBe("terminate");
  expect(cause({ signal: "SIGABRT", words: "FATAL ERROR: … JavaScript heap out of memory" })).toBe("heap");
  expect(cause({ signal: "SIGSEGV" })).toBe("native");
  expect(cause({ signal: "SIGABRT" })).toBe("native");
  expect(cause({ exitCode: 3 })).toBe("exit");
  expect(cause({ signal: "SIGKILL" })).toBe("signal");
  expect(cause({ signal: "SIGTERM" })).toBe("signal");
  expect(cause({ exitCode: 0, order: "asked" })).toBe("asked");
  expect(cause({ signal: "SIGKILL", order: "unresponsive" })).toBe("asked");
});

test("[D4] memory that was refused to native code is out of memory; words alone are nothing", () => {
  const words = "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc";
  expect(cause({ signal: "SIGABRT", words })).toBe("heap");
  expect(cause({ signal: "SIGABRT", words: "# Fatal process out of memory: Zone" })).toBe("heap");
  expect(cause({ signal: "SIGTRAP", words: "ArrayBuffer::New Allocation failed - process out of memory" })).toBe(
    "heap",
  );
  expect(cause({ signal: "SIGABRT", words: "RangeError: Array buffer allocation failed" })).toBe("heap");
  expect(cause({ signal: "SIGABRT", words: "Committing semi space failed." })).toBe("heap");
  expect(cause({ exitCode: 1, words: "log: heap out of memory, once" })).toBe("exit");
  // The OOM killer sends SIGKILL, nothing else.
  expect(cause({ signal: "SIGTERM", oomKills: { container: 1, machine: 1, ours: 1 } })).toBe("signal");
});

test("[D4] a kill in another container is nobody's cause here", () => {
  expect(cause({ signal: "SIGKILL", oomKills: { container: 0, machine: 1, ours: 0 } })).toBe("signal");
});

function counting(): { gauge: MemoryGauge; kills: { container: number; machine: number; ours: number } } {
  const kills = { container: 0, machine: 3, ours: 0 };
  const users = [
    { pid: 7, name: "node", private: 5 },
    { pid: 8, name: "postgres", private: 4 },
  ];
  const gauge: MemoryGauge = {
    process: () => null,
    node: () => ({ used: 90, total: 100 }),
    oomKills: () => ({ ...kills }),
    users: () => users,
  };
  return { gauge, kills };
}

test("[D4] one kill that is counted explains all who died with it, and nobody who dies later", () => {
  const { gauge, kills } = counting();
  const clock = new TestClock();
  const witness = new Witness(gauge, 0.95, () => [], clock);
  expect(witness.recentOomKills()).toEqual(NONE);
  clock.pass(10_000);
  kills.container = 1;
  kills.machine = 4;
  kills.ours = 1;
  expect(witness.recentOomKills()).toEqual({ container: 1, machine: 1, ours: 1 });
  clock.pass(100);
  expect(witness.recentOomKills()).toEqual({ container: 1, machine: 1, ours: 1 });
  clock.pass(5_000);
  expect(witness.recentOomKills()).toEqual(NONE);
});

test("[M2] the node's users have our names, and the monitor's threshold is beside them", () => {
  const witness = new Witness(counting().gauge, 0.95, () => [], new TestClock());
  const snapshot = witness.snapshot(new Map([[7, "worker 1"]]));
  expect(snapshot).toMatchObject({ used: 90, total: 100, threshold: 0.95 });
  expect(snapshot.users.map(({ name }) => name)).toEqual(["worker 1", "postgres"]);
  const before = beforeItsEnd(snapshot, { pid: 9, name: "worker 2", private: 20 });
  expect(before).toMatchObject({ used: 100, total: 100 });
  expect(before.users.map(({ name }) => name)).toContain("worker 2");
});

const MEMORY = { memoryUsageThreshold: 0.95, memoryMonitorRefreshMs: 250 };

test("[M5] a minute after the first kill, then after every minute with kills, and what is pending at the end", () => {
  const clock = new TestClock();
  const told: string[] = [];
  const summary = new DeathSummary({ host: "node-1", logs: "/logs", memory: MEMORY }, clock, (notice) =>
    told.push(noticeText(notice)),
  );
  clock.pass(120_000);
  summary.tellPending();
  expect(told).toEqual([]);
  for (const cause of ["monitor", "cgroupOom", "heap", "native", "asked"] as const) summary.died(cause);
  clock.pass(59_999);
  expect(told).toEqual([]);
  clock.pass(1);
  expect(told).toEqual([
    "3 workers (tasks / actors) killed due to memory pressure (OOM), 1 workers crashed due to other reasons at node node-1 over " +
      "the last time period. Their logs: tail -n 20 /logs/worker-*.log\n" +
      "To lose fewer workers: reserve the memory that a function needs (its option memory), use a smaller batchSize, more " +
      "partitions, fewer workers, or more memory per core.\n" +
      "The node's monitor ends workers above memoryUsageThreshold (0.95) of the memory; it measures every " +
      "memoryMonitorRefreshMs (250) milliseconds; 0 turns it off.",
  ]);
  clock.pass(120_000);
  expect(told.length).toBe(1);
  summary.died("systemOom");
  summary.tellPending();
  expect(told[1]).toMatch(/^1 workers \(tasks \/ actors\) killed due to memory pressure \(OOM\), 0 workers crashed/);
  clock.pass(60_000);
  expect(told.length).toBe(2);
});
