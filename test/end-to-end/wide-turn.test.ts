/**
 * Jobs share the one wide kernel: who waits there for a slow function lets others go first, and gives the same answer.
 */
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { count, sql } from "spillway";
import { expect, onTestFinished, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("wide-turn");

/** A server that answers when it is told to: what a function waits for, and the test decides. */
async function gate() {
  const waiting: ServerResponse[] = [];
  let isOpen = false;
  const server = createServer((_, response) => {
    if (isOpen) response.end();
    else waiting.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}/`,
    open() {
      isOpen = true;
      for (const response of waiting.splice(0)) response.end();
    },
  };
}

test.each(["sort", "groupBy"] as const)(
  "[A9] a %s behind a function that waits holds up no other job's groupBy, and has its answer afterwards",
  async (kind) => {
    const s = sessions.open();
    const { url, open } = await gate();
    const slow = s.range(40, { overrideNumBlocks: 4 }).map(
      async (row) => {
        if (row.id === 10) await fetch(url);
        return { id: row.id, k: row.id % 3 };
      },
      { concurrency: 1 },
    );
    const work =
      kind === "sort"
        ? slow.sort("id", { descending: true }).take(40)
        : slow.groupBy("k").agg({ n: count() }).sort("k").take(3);
    let isWideBusy = false;
    while (!isWideBusy) {
      isWideBusy = (await s.resources()).workers.some((one) => one.kind === "wide" && one.state === "busy");
    }
    const other = s
      .range(1000, { overrideNumBlocks: 2 })
      .map((row) => ({ k: row.id % 2, id: row.id }))
      .groupBy("k")
      .agg({ n: count() });
    const counts = await other.takeAll();
    expect([...counts].sort((a, b) => Number(a.k) - Number(b.k))).toEqual([
      { k: 0, n: 500 },
      { k: 1, n: 500 },
    ]);
    open();
    expect(await work).toEqual(
      kind === "sort"
        ? Array.from({ length: 40 }, (_, i) => ({ id: 39 - i, k: (39 - i) % 3 }))
        : [14, 13, 13].map((n, k) => ({ k, n })),
    );
    expect(String(other.stats())).toContain("WideKernel");
  },
);

test("[A9] small queries over files need no wide kernel, and give what a large one gives", async () => {
  const s = sessions.open();
  const files = join(sessions.directory, "small");
  await s.range(1000, { overrideNumBlocks: 10 }).withColumn("k", sql("id % 7")).writeParquet(files);
  const wanted = [...Array(7).keys()].map((k) => ({ k, n: k < 6 ? 143 : 142 }));
  const groups = () => s.readParquet(files).groupBy("k").agg({ n: count() }).sort("k");
  const answers = await Promise.all(Array.from({ length: 10 }, () => groups().takeAll()));
  expect(answers).toEqual(Array.from({ length: 10 }, () => wanted));
  const query = groups();
  await query.takeAll();
  expect(query.stats().operators).toMatchObject([{ name: "readParquet->groupBy->sort", tasks: 1, tasksDone: 1 }]);
  const kinds = async () => new Set((await s.resources()).workers.map(({ kind }) => kind));
  expect(await kinds()).toEqual(new Set(["worker"]));
  expect(
    await s
      .range(2 ** 20)
      .groupBy(sql("id % 7").as("k"))
      .agg({ n: count() })
      .count(),
  ).toBe(7);
  expect(await kinds()).toEqual(new Set(["worker", "wide"]));
});
