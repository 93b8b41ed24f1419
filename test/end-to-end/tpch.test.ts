/** The 22 queries of TPC-H, written with the Dataset API, against the kernel's own SQL over the same files. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeTpch } from "../../bench/data/tpch/index.ts";
import { QUERY_NAMES, queries } from "../../examples/tpch/queries.ts";
import { differences, type Rows, sqlOf, viewsOf } from "../../examples/tpch/reference.ts";
import { openTables, type TableFiles } from "../../examples/tpch/tables.ts";
import { Kernel } from "../../src/kernel/index.ts";
import { readFlowchart } from "../support/flowchart.ts";
import { testSessions } from "../support/sessions.ts";

const SCALE = 0.01;
const sessions = testSessions("tpch");
const kernel = Kernel.open({ threads: 2 });
const reference = kernel.connect();
let files: TableFiles;

beforeAll(async () => {
  files = await makeTpch({
    directory: join(sessions.directory, "data"),
    scale: SCALE,
    execute: (sql) => reference.execute(sql),
  });
  for (const view of viewsOf(files)) reference.execute(view);
});
afterAll(() => {
  reference.close();
  kernel.close();
});

const answerOf = async (name: (typeof QUERY_NAMES)[number]): Promise<Rows> => reference.all(await sqlOf(name, SCALE));

test("the data give every query something to find", async () => {
  for (const name of QUERY_NAMES) {
    const rows = await answerOf(name);
    expect(rows.length, name).toBeGreaterThan(0);
    expect(
      rows.some((row) => Object.values(row).every((value) => value !== null)),
      name,
    ).toBe(true);
  }
});

describe.each([{ exchange: false }, { exchange: true }])("exchange $exchange", ({ exchange }) => {
  const s = sessions.open({ exchange });

  test.each(QUERY_NAMES)("[A8] [A9] %s answers as DuckDB does", async (name) => {
    const rows = await queries[name](openTables(s, files, SCALE)).takeAll();
    expect(differences(rows, await answerOf(name))).toEqual([]);
  });

  test.each(QUERY_NAMES)("[O7] %s is explained, every stage of it", async (name) => {
    const ds = queries[name](openTables(s, files, SCALE));
    const text = await ds.explain();
    const { nodes } = readFlowchart(await ds.explain({ format: "mermaid" }));
    const stages = [...nodes.keys()].filter((id) => /^s\d+$/.test(id)).length;
    expect(stages).toBeGreaterThan(0);
    expect(text.match(/^ {2}Stage \d+ /gm)).toHaveLength(stages);
    expect(text.match(/^ {4}estimated: /gm)).toHaveLength(stages);
  });
});
