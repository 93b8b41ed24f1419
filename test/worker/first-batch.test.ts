/** The link that says when a task's last function has made its first batch. */
import { expect, test } from "vitest";
import { columnsToBatch } from "../../src/arrow/index.ts";
import type { Link } from "../../src/worker/link.ts";
import { FirstBatch } from "../../src/worker/steps/first-batch.ts";

test("[M11] the first batch is told of before it is handed on, and no other", async () => {
  const happened: string[] = [];
  const next: Link = {
    wanted: 7,
    takesEach: true,
    push: (batch) => void happened.push(`${batch.length} rows`),
    end: () => void happened.push("end"),
    close: () => void happened.push("close"),
  };
  const link = new FirstBatch(next, () => happened.push("told"));
  expect([link.wanted, link.takesEach]).toEqual([7, true]);
  for (const rows of [3, 2]) await link.push(columnsToBatch({ id: Array.from({ length: rows }, (_, i) => i) }));
  await link.end();
  link.close();
  expect(happened).toEqual(["told", "3 rows", "2 rows", "end", "close"]);
});
