/** Which of several jobs the pages show before the reader chooses one. */
import { expect, test } from "vitest";
import type { JobCard } from "../../src/dashboard/api.ts";
import { jobToShow } from "../../src/dashboard/web/parts/job-to-show.ts";

/** Jobs one after the other, by what they took; null: it runs. */
function shown(...jobs: readonly (number | null | "failed" | "cut off" | "cancelled")[]): number | undefined {
  const cards = jobs.map(
    (took, index): JobCard => ({
      id: String(index),
      startedAt: index * 100_000,
      endedAt: took === null ? null : index * 100_000 + (typeof took === "string" ? 5 : took),
      phase: "ended",
      outcome: typeof took === "number" ? "finished" : took,
      error: null,
      rows: null,
      rowsDelivered: 0,
      operators: [],
    }),
  );
  const job = jobToShow(cards);
  return job === undefined ? undefined : Number(job.id);
}

test("[W1] the running job is shown, else the newest that took its time or broke off", () => {
  expect(shown()).toBe(undefined);
  expect(shown(4000, null, 20)).toBe(1);
  expect(shown(4000, null, null, 20)).toBe(2);
  expect(shown(4000, 2000, 20)).toBe(1);
  expect(shown(3_600_000, 1000, 999)).toBe(1);
  expect(shown(4000, "failed", 20)).toBe(1);
  expect(shown(4000, "cut off")).toBe(1);
  expect(shown(4000, "cancelled")).toBe(0);
});

test("[W1] among short jobs, the newest is shown that took a tenth of the longest", () => {
  expect(shown(400, 300, 39)).toBe(1);
  expect(shown(400, 300, 40)).toBe(2);
  expect(shown(0, 0)).toBe(1);
});
