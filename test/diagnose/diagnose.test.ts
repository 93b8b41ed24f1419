/** Every rule at its border, on figures that are made up; and the same job from stats and from events. */
import { describe, expect, test } from "vitest";
import {
  diagnose,
  diagnoseStats,
  type ExaminedJob,
  type ExaminedOperator,
  findingsText,
} from "../../src/diagnose/index.ts";
import { jobStats } from "../../src/events/index.ts";
import type { FindingKind, JobId } from "../../src/protocol/index.ts";
import { ScriptedSession, splits } from "../scheduler/scripted-session.ts";
import { batched, COUNT } from "../scheduler/starved.ts";
import { job as jobOf, tasks } from "../simulate/plans.ts";

const MIB = 2 ** 20;

function operator(more: Partial<ExaminedOperator> = {}): ExaminedOperator {
  return {
    id: 0,
    name: "range->map",
    place: "worker",
    isSource: true,
    functions: [],
    batchSize: null,
    tasks: 8,
    tasksDone: 8,
    retries: 0,
    oomRetries: 0,
    duration: 1_000,
    wall: 1_600,
    longest: 250,
    cpu: 1_500,
    rowsIn: 8_000,
    rowsOut: 8_000,
    mostRows: 1_000,
    bytesOut: 8 * MIB,
    blocks: 8,
    peakMemory: 30 * MIB,
    addedMemory: 10 * MIB,
    heldBack: {},
    ...more,
  };
}

function examined(operators: readonly ExaminedOperator[], more: Partial<ExaminedJob> = {}): ExaminedJob {
  const bytes = { madeBytes: 100 * MIB, spilledBytes: 0, restoredBytes: 0, peakUnmanaged: 0, grownUnmanaged: null };
  return { duration: 10_000, workers: 4, workerLimit: 1024 * MIB, capacity: 1024 * MIB, ...bytes, operators, ...more };
}

function found(kind: FindingKind, more: Partial<ExaminedOperator>, ofJob: Partial<ExaminedJob> = {}) {
  return diagnose(examined([operator(more)], ofJob)).find((finding) => finding.kind === kind);
}

describe("[O10] diagnose", () => {
  test("a job in which nothing stands out has no findings, and says so", () => {
    expect(diagnose(examined([operator(), operator({ id: 1, isSource: false })]))).toEqual([]);
    expect(findingsText([])).toBe("No findings: nothing in this run stands out.");
  });

  test("backpressure exactly where a policy held work back, by whom and how long, with the four remedies", () => {
    const held = found("backpressure", {
      heldBack: { ResourceBudgetBackpressurePolicy: 1_500, ConcurrencyCapBackpressurePolicy: 250 },
      batchSize: 1024,
    });
    expect(held).toMatchObject({ severity: "warning", operator: 0 });
    expect(held?.text).toContain("in backpressure for 1.8s, 18% of the job: 1.5s by its share of the store");
    expect(held?.text).toContain("250ms by its own concurrency (ConcurrencyCapBackpressurePolicy)");
    expect(
      held?.remedies.map(
        (remedy) =>
          /batchSize \(1024 now, for example 256\)|more concurrency|more memory per task|smaller blocks/.exec(
            remedy,
          )?.[0],
      ),
    ).toEqual(["batchSize (1024 now, for example 256)", "more concurrency", "more memory per task", "smaller blocks"]);
    expect(found("backpressure", { heldBack: { ConcurrencyCapBackpressurePolicy: 100 } })?.remedies[0]).toContain(
      "concurrency",
    );
    expect(found("backpressure", { heldBack: { ResourceBudgetBackpressurePolicy: 900 } })?.severity).toBe("info");
    for (const none of [{}, { ResourceBudgetBackpressurePolicy: 0 }]) {
      const text = findingsText(diagnose(examined([operator({ heldBack: none, oomRetries: 1 })])));
      expect(text).not.toMatch(/backpressure/i);
    }
  });

  test("blocks that are too small, and blocks too large for a worker or for the store", () => {
    expect(found("smallBlocks", { blocks: 199, bytesOut: 199 * 1024 })).toBeUndefined();
    expect(found("smallBlocks", { blocks: 200, bytesOut: 200 * 1024 })?.text).toContain("200 blocks of 1.0 KiB each");
    expect(found("largeBlocks", { blocks: 2, bytesOut: 2 * 63 * MIB })).toBeUndefined();
    expect(found("largeBlocks", { blocks: 2, bytesOut: 2 * 65 * MIB })?.text).toContain(
      "the store of 1.0 GiB holds 16 of them",
    );
    const forWorker = found("largeBlocks", { blocks: 1, bytesOut: 300 * MIB }, { capacity: 64_000 * MIB });
    expect(forWorker?.text).toContain("blocks of 300 MiB each, and a worker may have 1.0 GiB");
    expect(forWorker?.remedies[0]).toContain("75.0 MiB");
  });

  test("the operator whose tasks take the most memory, with its functions and its own numbers", () => {
    const kind = { name: "range->mapBatches(embed)", functions: ["mapBatches(embed)"], batchSize: 512 };
    const large = { ...kind, peakMemory: 700 * MIB, addedMemory: 600 * MIB };
    const finding = found("memory", large);
    expect(finding).toMatchObject({ severity: "info", operator: 0 });
    expect(finding?.text).toBe(
      "range->mapBatches(embed) needs the most memory: a task added 600 MiB to its worker, which then had 700 MiB, 68% of its 1.0 GiB.",
    );
    expect(finding?.remedies[0]).toContain("batchSize (512 now, for example 128)");
    expect(finding?.remedies[1]).toContain("memory: 700 MiB");
    expect(finding?.remedies[2]).toContain("fewer workers (4 now): with 2,");
    expect(finding?.remedies[3]).toContain("profile: true on mapBatches(embed)");
    expect(found("memory", { ...large, peakMemory: 800 * MIB })?.severity).toBe("warning");
    expect(found("memory", { ...large, batchSize: null })?.remedies[0]).toContain("about 1,000 rows of input each now");
    expect(found("memory", large, { workers: 1 })?.remedies).toHaveLength(3);
    expect(found("memory", { ...large, addedMemory: 511 * MIB })).toBeUndefined();
    expect(found("memory", large, { workerLimit: null })).toBeUndefined();
    expect(found("memory", { ...large, place: "wide" })).toBeUndefined();
  });

  test("what an operator's tasks found in their workers is not theirs", () => {
    const first = operator({ peakMemory: 800 * MIB, addedMemory: 700 * MIB });
    const later = operator({ id: 1, name: "map", peakMemory: 810 * MIB, addedMemory: 20 * MIB });
    const findings = diagnose(examined([first, later])).filter(({ kind }) => kind === "memory");
    expect(findings.map((finding) => finding.operator)).toEqual([0]);
    expect(diagnose(examined([later])).filter(({ kind }) => kind === "memory")).toEqual([]);
  });

  test("skew between tasks, and whether the rows of a key are why", () => {
    const even = { tasksDone: 8, wall: 8_000 + 2_900, longest: 2_900 };
    expect(found("skew", even)).toBeUndefined();
    const skewed = { tasksDone: 8, wall: 7_000 + 4_000, longest: 4_000 };
    expect(found("skew", skewed)?.text).toBe(
      "range->map: the longest of 8 tasks took 4.0s, 4.0 times as long as the others (1.0s on average).",
    );
    const byKey = found("skew", { ...skewed, mostRows: 6_000 });
    expect(byKey?.text).toContain("One task gave 6,000 of 8,000 rows.");
    expect(byKey?.remedies[0]).toContain("key");
  });

  test("one task that everything waits for, but not where it is the wide kernel's or alone in the session", () => {
    const one = { tasks: 1, tasksDone: 1, longest: 6_000, wall: 6_000, duration: 6_000 };
    expect(found("oneTask", one)?.text).toContain("one task of 6.0s, 60% of the job, while 3 of 4 workers");
    expect(found("oneTask", one)?.remedies[0]).toContain("overrideNumBlocks: 16");
    expect(found("oneTask", { ...one, isSource: false })?.remedies[0]).toContain("repartition(16)");
    expect(found("oneTask", { ...one, place: "wide" })).toBeUndefined();
    expect(found("oneTask", one, { workers: 1 })).toBeUndefined();
    expect(found("oneTask", { ...one, longest: 4_000, duration: 4_000 })).toBeUndefined();
  });

  test("spilling, as a multiple of what was made, and the room that would have been enough", () => {
    expect(found("spilling", {}, { spilledBytes: 63 * MIB })).toBeUndefined();
    expect(found("spilling", {}, { spilledBytes: 400 * MIB, madeBytes: 1_000 * MIB })).toBeUndefined();
    const spilled = found("spilling", {}, { spilledBytes: 300 * MIB, restoredBytes: 250 * MIB });
    expect(spilled).toMatchObject({ severity: "warning", operator: null });
    expect(spilled?.text).toContain(
      "wrote 300 MiB to disk, 3.0 times the 100 MiB of its blocks, and read 250 MiB back",
    );
    expect(spilled?.remedies[0]).toContain("objectStoreMemory of 1.3 GiB");
  });

  test("unmanaged memory, retries for memory, and workers that died", () => {
    expect(found("unmanaged", {}, { peakUnmanaged: 500 * MIB })).toBeUndefined();
    expect(found("unmanaged", {}, { peakUnmanaged: 600 * MIB })?.text).toContain(
      "600 MiB that are neither blocks nor known worker data, 59% of its 1.0 GiB",
    );
    expect(found("unmanaged", {}, { peakUnmanaged: 600 * MIB, workerLimit: null })).toBeUndefined();
    const steady = found("unmanaged", {}, { peakUnmanaged: 600 * MIB, grownUnmanaged: 20 * MIB });
    expect(steady).toMatchObject({ severity: "info" });
    expect(steady?.text).toContain("It has hardly grown since the first half of the job");
    const growing = found("unmanaged", {}, { peakUnmanaged: 300 * MIB, grownUnmanaged: 150 * MIB });
    expect(growing).toMatchObject({ severity: "warning" });
    expect(growing?.text).toContain("It grows: by 150 MiB since the first half of the job");
    expect(found("unmanaged", {}, { peakUnmanaged: 300 * MIB, grownUnmanaged: 100 * MIB })).toBeUndefined();
    const again = found("memoryRetry", { oomRetries: 2, batchSize: 64 });
    expect(again?.text).toContain("ran out of memory and was run again 2 times");
    expect(again?.remedies[0]).toContain("batchSize below 64");
    expect(found("retry", { retries: 1 })?.text).toContain("a worker died while it ran a task");
  });

  test("a function that dominates the time: one that computes, and one that waits", () => {
    const long = { name: "range->map(slow)", functions: ["map(slow)"], wall: 9_000, cpu: 8_500 };
    const other = operator({ id: 1, wall: 1_000, cpu: 1_000 });
    const findings = diagnose(examined([operator(long), other]));
    expect(findings).toMatchObject([{ kind: "function", severity: "info" }]);
    expect(findings[0]?.text).toContain(
      "range->map(slow) took 9.0s of work, 90% of the job's 10.0s, 8.5s of it computing",
    );
    expect(found("function", { ...long, cpu: 100 })?.remedies[0]).toContain("maxInFlight");
    expect(diagnose(examined([operator({ ...long, wall: 3_000 }), other]))).toEqual([]);
  });

  test("a filter function over a reader that could be an expression", () => {
    const kind = { name: "readParquet->filter(isLate)", functions: ["filter(isLate)"] };
    const reads = { ...kind, rowsIn: 100_000, rowsOut: 2_000 };
    expect(found("filter", reads)?.text).toBe(
      "filter(isLate) is a function: readParquet->filter(isLate) read 100,000 rows for it, and 2,000 were left.",
    );
    expect(found("filter", reads)?.remedies[0]).toContain('filter(col("day")');
    expect(found("filter", { ...reads, name: "range->filter(isLate)" })).toBeUndefined();
    expect(found("filter", { ...reads, rowsOut: 60_000 })).toBeUndefined();
    expect(found("filter", { ...reads, functions: ["map(x)"] })).toBeUndefined();
  });

  test("warnings stand before notes, and remedies are numbered", () => {
    const text = findingsText(
      diagnose(examined([operator({ heldBack: { ConcurrencyCapBackpressurePolicy: 5 }, oomRetries: 1 })])),
    );
    expect(text).toMatch(
      /^Warning: range->map ran out of memory.*\n {2}1\. .*\n {2}2\. .*\n {2}3\. .*\nNote: range->map stood in backpressure/,
    );
  });

  test("the same job has the same findings from its stats and from its events, running or ended", () => {
    const session = new ScriptedSession(2, 8, { resources: { cpu: 2, gpu: 0, memory: 100 } });
    const seen = () => {
      const view = session.state.jobs.get("j" as JobId);
      return view === undefined ? [] : diagnoseStats(jobStats(session.state, view, session.now));
    };
    session.tell({ type: "open" });
    session.put();
    const request = { cpu: 1, gpu: 0, memory: 80 };
    session.start(jobOf("j", [tasks(0, splits(2), { sink: COUNT, request, steps: batched(1024) })]), 1);
    session.now = 4_000;
    session.seen(10, 10);
    const going = session.wasTold("progress").at(-1)?.stats;
    expect(going === undefined ? [] : diagnoseStats(going)).toEqual(seen());
    expect(seen()).toMatchObject([{ kind: "backpressure", severity: "warning" }]);
    session.done(1);
    session.done(1);
    const ended = session.wasTold("finished")[0]?.stats;
    expect(ended === undefined ? [] : diagnoseStats(ended)).toEqual(seen());
    expect(seen()[0]?.text).toContain("4.0s, 100% of the job");
  });
});
