/** explain of datasets: options, real figures after a run or by one, and that nothing runs unasked. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { col, count, range, readParquet } from "../../src/dataset/index.ts";
import { OptionError } from "../../src/errors/index.ts";
import { readFlowchart } from "../support/flowchart.ts";
import { InProcessEngine } from "./in-process-engine.ts";

const engine = new InProcessEngine();
const folder = mkdtempSync(join(tmpdir(), "spillway-explain-"));
const file = join(folder, "numbers.parquet");
engine.connection.execute(
  `COPY (SELECT range AS id, range % 10 AS k FROM range(20000)) TO '${file}' (ROW_GROUP_SIZE 2048)`,
);
afterAll(() => {
  engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const totals = () =>
  readParquet(engine, file)
    .where(col("id").lt(5000))
    .map((row) => ({ k: Number(row.k), id: Number(row.id) }))
    .groupBy("k")
    .agg({ n: count(), total: col("id").sum() })
    .sort("k");
const reals = (text: string) => [...text.matchAll(/real: ([^,]*(?:,\d+)* rows?)/g)].map((match) => match[1]);

describe("[O7] explain", () => {
  test("[O7] three plans, the stages with their place, SQL, estimates and what is skipped; nothing runs", async () => {
    const jobs = engine.jobs.length;
    const text = await totals().explain();
    expect(engine.jobs.length).toBe(jobs);
    expect(text.split("\n").filter((line) => !line.startsWith(" "))).toEqual([
      "Logical plan",
      "Optimised plan",
      "Physical plan",
    ]);
    expect(text).toContain("Stage 1 readParquet->filter->map->partial groupBy: 2 tasks\n    runs in the workers");
    expect(text).toContain("6,144 rows, about");
    expect(text).toContain("estimated: at most 6,144 rows, unknown bytes");
    expect(text).toContain("statistics leave 3 of 10 row groups to be read");
    expect(text).toContain("Stage 2 groupBy->sort: one task over stage 1\n    runs in the wide kernel");
    expect(text).toContain(`ORDER BY "k" ASC NULLS LAST`);
    expect(text).not.toContain("real:");
  });

  test("[O7] the SQL is whole, however long, and is what runs", async () => {
    const items = Array.from({ length: 150 }, (_, i) => col("id").add(i).multiply(3).as(`column number ${i}`));
    const wide = readParquet(engine, file)
      .where(col("id").lt(10))
      .select(...items)
      .map((row) => row);
    const text = await wide.explain();
    await wide.count();
    const [operator] = engine.jobs.at(-1)?.operators ?? [];
    const sql = operator?.kind === "tasks" && operator.steps[0]?.kind === "sql" ? operator.steps[0].sql : "";
    expect(sql.length).toBeGreaterThan(5000);
    expect(text.replace(/\s+/g, " ")).toContain(sql);
  });

  test("[O7] after a run, real rows beside the estimates", async () => {
    const ds = totals();
    expect(await ds.takeAll()).toHaveLength(10);
    const text = await ds.explain();
    expect(text).toContain("Physical plan, with the figures of a run that took");
    expect(text).toMatch(
      /estimated: at most 6,144 rows, unknown bytes\n {4}real: \d+ rows, .*, 2 tasks, .* of work \(.* CPU\)/,
    );
    expect(reals(text).at(-1)).toBe("10 rows");
    expect(readFlowchart(await ds.explain({ format: "mermaid" })).nodes.get("s2")).toMatch(/real 10 rows/);
  });

  test("[O7] the figures of another plan are not taken for this one's", async () => {
    const ds = readParquet(engine, file).map((row) => ({ id: row.id }));
    await ds.take(3);
    const text = await ds.explain();
    expect(text).not.toContain("real:");
    expect(text).toMatch(/The last run had other stages .*\n(?: {2}Stage .*\n)* {2}Stage 2 limit: 3 rows/);
  });

  test("[O7] analyze runs the plan to its end, keeps nothing, and gives real figures", async () => {
    const before = engine.live;
    const ds = totals();
    const text = await ds.explain({ analyze: true });
    expect(reals(text).at(-1)).toBe("10 rows");
    expect(ds.stats().operators.at(-1)?.rowsOut.total).toBe(10);
    expect(engine.live).toBe(before);
  });

  test("[O7] analyze runs a sort although nobody reads its order", async () => {
    const text = await range(engine, 100).sort("id", { descending: true }).explain({ analyze: true });
    expect(text).toContain("Stage 1 range->sort");
    expect(reals(text)).toEqual(["100 rows"]);
  });

  test("[O7] unknown options and formats are refused with the valid ones", async () => {
    const ds = range(engine, 3);
    await expect(ds.explain({ formt: "mermaid" } as never)).rejects.toThrow(OptionError);
    await expect(ds.explain({ formt: "mermaid" } as never)).rejects.toThrow(
      'explain: there is no option "formt". Did you mean "format"? Options: format, analyze, signal, timeout.',
    );
    await expect(ds.explain({ format: "dot" as never })).rejects.toThrow(
      'explain: format is "dot"; it must be one of text, mermaid.',
    );
    await expect(ds.explain({ analyze: 1 as never })).rejects.toThrow(
      "explain: analyze is 1; it must be true or false.",
    );
  });
});
