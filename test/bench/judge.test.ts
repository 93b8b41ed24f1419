import { expect, test } from "vitest";
import type { EngineResult, WorkloadResult } from "../../bench/harness/index.ts";
import { asTable, judge } from "../../bench/report/index.ts";
import type { EngineName, Target, Workload } from "../../bench/workload.ts";

function engine(name: EngineName, seconds: readonly number[], failure: string | null = null): EngineResult {
  const processes = [
    { pid: 1, role: "worker", command: "", private: 250e6, resident: 600e6 },
    { pid: 2, role: "worker", command: "", private: 310e6, resident: 500e6 },
    { pid: 3, role: "supervisor", command: "", private: 40e6, resident: 90e6 },
  ] as const;
  return {
    engine: name,
    measurements: seconds.map((value) => ({
      seconds: value,
      startup: 0,
      leftBehind: 0,
      memory: { processes, total: 1 },
      box: null,
    })),
    answer: {},
    failure,
  };
}

function result(targets: readonly Target[], engines: readonly EngineResult[], tasks?: number): WorkloadResult {
  const workload: Workload = {
    name: "w",
    title: "",
    rows: 10,
    scales: true,
    tables: [],
    peers: [],
    runs: 1,
    clock: "work",
    box: null,
    targets,
    ...(tasks === undefined ? {} : { tasks }),
  };
  return { workload, engines, disagreements: [] };
}

test("ten times faster is met at ten, judged by medians", () => {
  const target: Target = { kind: "faster", than: "daft", times: 10 };
  const [met] = judge(result([target], [engine("spillway", [9, 1, 1]), engine("daft", [10])]));
  expect(met).toMatchObject({ ours: 1, theirs: 10, ratio: 10, met: true });
  const [missed] = judge(result([target], [engine("spillway", [1]), engine("daft", [9.9])]));
  expect(missed).toMatchObject({ met: false });
});

test("within 1.3 is missed at 1.31", () => {
  const target: Target = { kind: "within", of: "duckdb", factor: 1.3 };
  const verdict = (ours: number) =>
    judge(result([target], [engine("spillway", [ours]), engine("duckdb", [1])]))[0]?.met;
  expect(verdict(1.29)).toBe(true);
  expect(verdict(1.31)).toBe(false);
});

test("memory is judged by the largest process of its kind", () => {
  const targets: Target[] = [
    { kind: "below", figure: "workerPrivate", limit: 300e6 },
    { kind: "below", figure: "supervisorResident", limit: 150e6 },
  ];
  const verdicts = judge(result(targets, [engine("spillway", [1])]));
  expect(verdicts.map(({ ours, met }) => [ours, met])).toEqual([
    [310, false],
    [90, true],
  ]);
});

test("a time per task divides by the tasks", () => {
  const target: Target = { kind: "below", figure: "millisecondsPerTask", limit: 2 };
  expect(judge(result([target], [engine("spillway", [1])], 1000))[0]).toMatchObject({ ours: 1, unit: "ms", met: true });
});

test("our own failure misses the target; a peer's is told and not judged", () => {
  const target: Target = { kind: "faster", than: "ray", times: 1 };
  const ours = judge(result([target], [engine("spillway", [], "ended with code 1"), engine("ray", [1])]));
  expect(ours[0]).toMatchObject({ met: false, note: "spillway: ended with code 1" });
  const theirs = judge(result([target], [engine("spillway", [1]), engine("ray", [], "killed")]));
  expect(theirs[0]).toMatchObject({ met: null, note: "ray: killed" });
  expect(asTable(theirs)).toContain("failed");
});

test("a peer without a target is shown all the same", () => {
  const verdicts = judge(result([], [engine("spillway", [1]), engine("dask", [3])]));
  expect(verdicts).toMatchObject([{ peer: "dask", ratio: 3, target: "", met: null }]);
});
