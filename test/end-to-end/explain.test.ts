/** explain in a real session: the figures of real processes beside the estimates. */
import { join } from "node:path";
import { col, count } from "spillway";
import { expect, test } from "vitest";
import { readFlowchart } from "../support/flowchart.ts";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("explain");
const s = sessions.open();

test("[O7] after a run, rows, bytes, tasks and time of each stage; as a flowchart too", async () => {
  const ds = s
    .range(50_000, { overrideNumBlocks: 4 })
    .map((row) => ({ k: row.id % 7, id: row.id }))
    .groupBy("k")
    .agg({ n: count() })
    .sort("k");
  expect(await ds.explain()).not.toContain("real:");
  expect(await ds.takeAll()).toHaveLength(7);
  const text = await ds.explain();
  expect(text).toMatch(/Stage 1 range->map->partial groupBy: 4 tasks\n {4}runs in the workers/);
  expect(text).toMatch(
    /estimated: at most 50,000 rows, unknown bytes\n {4}real: \d+ rows, [\d.]+ (B|KiB), 4 tasks, [\d.]+\w+ of work/,
  );
  expect(text).toMatch(/Stage 2 groupBy->sort: one task over stage 1\n {4}runs in the wide kernel/);
  expect(text).toMatch(/real: 7 rows, \d[\d.]* (B|KiB), 1 task/);
  const { nodes } = readFlowchart(await ds.explain({ format: "mermaid" }));
  expect(nodes.get("s2")).toMatch(/in the wide kernel\n.*\nreal 7 rows/);
});

test("[O7] after files are written, what the query that wrote them did", async () => {
  const ds = s.range(1000).where(col("id").lt(10)).sort("id", { descending: true });
  await ds.writeParquet(join(sessions.directory, "out"));
  expect(await ds.explain()).toMatch(/estimated: at most 1,000 rows, .*\n {4}real: 10 rows/);
});

test("[O7] analyze counts what really comes, and writes and keeps nothing", async () => {
  const ds = s.range(20_000, { overrideNumBlocks: 2 }).filter((row) => row.id % 2 === 0);
  const text = await ds.explain({ analyze: true });
  expect(text).toMatch(/estimated: at most 20,000 rows, at most 156 KiB\n {4}real: 10,000 rows, \d.*, 2 tasks/);
  expect(ds.stats().operators[0]?.rowsOut.total).toBe(10_000);
});

test("[A12] explain counts one task as one", async () => {
  expect(await s.range(1).explain()).toContain(": 1 task\n");
});
