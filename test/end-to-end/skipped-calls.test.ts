/** A row or a batch on which a function fails is dropped whole: nothing of what its call had given stays. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FunctionError } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("skipped-calls");
const s = sessions.open({ workers: 1 });
const five = () => s.range(5, { overrideNumBlocks: 1 });
const ids = (rows: readonly object[]) => rows.map((row) => ("id" in row ? row.id : null));

describe("a call that fails after it has yielded", () => {
  test("[A14] flatMap: what a generator had yielded goes with its row", async () => {
    const rows = five().flatMap(
      function* (row) {
        yield { id: row.id, text: "é".repeat(row.id) };
        yield { id: row.id, text: "" };
        if (row.id % 2 === 1) throw new Error("odd");
        yield { id: row.id, text: `${row.id}` };
      },
      { onError: "skip" },
    );
    expect(await rows.takeAll()).toEqual(
      [0, 2, 4].flatMap((id) => [
        { id, text: "é".repeat(id) },
        { id, text: "" },
        { id, text: `${id}` },
      ]),
    );
    expect(rows.stats().operators[0]?.errored).toBe(2);
  });

  test("[A14] flatMap: so do the first rows of an array with one that does not fit, and those of an async generator", async () => {
    const misfit = five().flatMap(
      (row) => [{ id: row.id }, { id: row.id === 2 ? ("two" as unknown as number) : row.id }],
      { onError: "skip" },
    );
    expect(ids(await misfit.takeAll())).toEqual([0, 0, 1, 1, 3, 3, 4, 4]);
    const async = five().flatMap(
      async function* (row) {
        yield { id: row.id };
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (row.id === 3) throw new Error("three");
      },
      { onError: "skip" },
    );
    expect(ids(await async.takeAll())).toEqual([0, 1, 2, 4]);
  });

  test("[A14] columns of a call that was dropped decide nothing for those after it", async () => {
    const rows = five().flatMap(
      function* (row) {
        if (row.id === 0) {
          yield { other: "text" } as unknown as { id: number };
          throw new Error("the first");
        }
        yield { id: row.id };
      },
      { onError: "skip" },
    );
    expect(ids(await rows.takeAll())).toEqual([1, 2, 3, 4]);
  });

  test("[A14] mapBatches: what a generator had yielded goes with its batch, rows or columns", async () => {
    for (const asRows of [true, false]) {
      const batches = five().mapBatches(
        function* (batch) {
          const id = batch.id[0] ?? 0;
          yield asRows ? [{ id }] : { id: [id] };
          yield { id: Float64Array.of(id) };
          if (id === 1) throw new Error("one");
          if (id === 2) yield { id: ["text" as unknown as number] };
        },
        { batchSize: 1, onError: "skip" },
      );
      expect(ids(await batches.takeAll())).toEqual([0, 0, 3, 3, 4, 4]);
    }
  });

  test("[A14] a generator may fill the same array for each batch", async () => {
    const batches = s.range(1).mapBatches(
      function* () {
        const id = new Float64Array(1);
        for (let n = 0; n < 3; n++) {
          id[0] = n;
          yield { id };
        }
      },
      { onError: "skip" },
    );
    expect(ids(await batches.takeAll())).toEqual([0, 1, 2]);
  });

  test("[A14] mapGroups: what a generator had yielded goes with its group, streamed or not", async () => {
    for (const stream of [true, false]) {
      const groups = s
        .range(6)
        .groupBy("id")
        .mapGroups(
          // biome-ignore lint/suspicious/noExplicitAny: the group is an iterable or columns
          async function* (group: any) {
            let id = -1;
            if (Symbol.asyncIterator in group) for await (const part of group) id = part.id[0];
            else id = group.id[0];
            yield [{ id }];
            if (id === 4) throw new Error("four");
          },
          { onError: "skip", stream },
        );
      expect(ids(await groups.takeAll()).sort()).toEqual([0, 1, 2, 3, 5]);
    }
  });

  test("[A14] the dead letter holds the row once, and nothing of it is among the results", async () => {
    const directory = join(sessions.directory, "letters");
    const rows = five().flatMap(
      function* (row) {
        yield { id: row.id };
        if (row.id === 1) throw new Error("one");
      },
      { onError: { deadLetter: directory } },
    );
    expect(ids(await rows.takeAll())).toEqual([0, 2, 3, 4]);
    const lines = readdirSync(directory).flatMap((name) =>
      readFileSync(join(directory, name), "utf8").trim().split("\n"),
    );
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ row: 1, value: { id: 1 } }]);
  });

  test("[A14] more than can be held back and then a failure fails the job, and says why", async () => {
    const text = "x".repeat(1000);
    const rows = five().flatMap(
      function* (row) {
        for (let n = 0; n < 20_000; n++) yield { id: row.id, text };
        if (row.id === 1) throw new Error("one");
      },
      { onError: "skip" },
    );
    const error = await rows.count().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FunctionError);
    expect(String(error)).toMatch(/cannot be dropped: its call had already yielded \d+ rows/);
    const batches = five().mapBatches(
      function* (batch) {
        for (let n = 0; n < 20; n++) yield { text: new Array<string>(1000).fill(text) };
        if (batch.id[0] === 1) throw new Error("one");
      },
      { onError: "skip", batchSize: 1 },
    );
    await expect(batches.count()).rejects.toThrow(/cannot be dropped/);
  });

  test("[A14] a failure further on is not taken for one of a function that skips", async () => {
    const rows = five()
      .flatMap((row) => Array.from({ length: 5000 }, () => ({ id: row.id })), { onError: "skip" })
      .map(function picky(row) {
        if (row.id === 3) throw new Error("three");
        return row;
      });
    await expect(rows.takeAll()).rejects.toThrow(/picky.*three/s);
  });
});
