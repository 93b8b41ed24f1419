/** Functions that never end, or are slow: who takes a few rows gets them, and the function is told to stop. */
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Dataset, FunctionError, sql } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const sessions = testSessions("never-ending");
const s = sessions.open({ workers: 2 });
const source = () => s.range(4, { overrideNumBlocks: 2 });

interface Counted {
  readonly n: number;
}

/** Rows 0, 1, 2, … without an end. */
function endless(): Dataset<Counted> {
  return source().flatMap(function* () {
    for (let n = 0; ; n++) yield { n };
  });
}

/** The same, of an async generator whose eleventh row never comes. */
function stuckAfterTen(): Dataset<Counted> {
  return source().flatMap(async function* () {
    for (let n = 0; n < 10; n++) yield { n };
    await new Promise(() => {});
  });
}

const ten = Array.from({ length: 10 }, (_, n) => ({ n }));

describe("take over a function that never ends", () => {
  test("[A10] take stops a generator of flatMap", async () => {
    expect(await endless().take(10)).toEqual(ten);
  });

  test("[A10] take gets the rows that an async generator has yielded", async () => {
    expect(await stuckAfterTen().take(10)).toEqual(ten);
  });

  test("[A10] take stops the generators of mapBatches, sync and async", async () => {
    const sync = source().mapBatches(function* () {
      for (let n = 0; ; n += 2) yield { n: [n, n + 1] };
    });
    expect(await sync.take(10)).toEqual(ten);
    const async = source().mapBatches(async function* () {
      for (let n = 0; n < 10; n++) yield { n: [n] };
      await new Promise(() => {});
    });
    expect(await async.take(10)).toEqual(ten);
  });

  test("[A3] take stops the generator of a class function", async () => {
    class Endless {
      *call(): Generator<{ n: number[] }> {
        for (let n = 0; ; n++) yield { n: [n] };
      }
    }
    expect(await source().mapBatches(Endless).take(10)).toEqual(ten);
  });

  test("[A10] take stops a generator of mapGroups", async () => {
    const groups = source()
      .groupBy("id")
      .mapGroups(function* () {
        for (let n = 0; ; n++) yield { n: [n] };
      });
    expect(await groups.take(10)).toEqual(ten);
  });

  test("[A4] calls that never answer do not hold up a take that has its rows", async () => {
    const some = s.range(100, { overrideNumBlocks: 1 }).flatMap(async (row) => {
      if (row.id >= 10) await new Promise(() => {});
      return [{ n: row.id }];
    });
    expect(await some.take(10)).toEqual(ten);
    const batches = s.range(100, { overrideNumBlocks: 1 }).mapBatches(
      async (batch) => {
        if ((batch.id[0] ?? 0) >= 10) await new Promise(() => {});
        return { n: batch.id };
      },
      { batchSize: 1 },
    );
    expect(await batches.take(10)).toEqual(ten);
    const kept = s
      .range(100, { overrideNumBlocks: 1 })
      .filter(async (row) => {
        if (row.id >= 10) await new Promise(() => {});
        return true;
      })
      .rename({ id: "n" });
    expect(await kept.take(10)).toEqual(ten);
  });

  test("[A10] show, limit and offset, count and schema over a limit stop it as well", async () => {
    expect(await endless().show(3)).toContain("(the first 3 rows)");
    expect(await endless().offset(5).limit(5).takeAll()).toEqual(ten.slice(5));
    expect(await endless().limit(7).count()).toBe(7);
    expect(String(await endless().limit(7).schema())).toBe("n: DOUBLE");
    const kept = await endless().limit(7).materialize();
    expect(await kept.count()).toBe(7);
  });

  test("[A10] a limit above further steps stops it", async () => {
    const odd = (rows: Dataset<Counted>) => rows.filter((row) => row.n % 2 === 1);
    expect(await odd(endless()).take(3)).toEqual([{ n: 1 }, { n: 3 }, { n: 5 }]);
    expect(await odd(stuckAfterTen()).take(3)).toEqual([{ n: 1 }, { n: 3 }, { n: 5 }]);
    expect(await stuckAfterTen().filter(sql("n > 2")).take(3)).toEqual([{ n: 3 }, { n: 4 }, { n: 5 }]);
    expect(await stuckAfterTen().withColumn("m", sql("n + 1")).take(2)).toEqual([
      { n: 0, m: 1 },
      { n: 1, m: 2 },
    ]);
    const doubled = stuckAfterTen().map((row) => ({ twice: 2 * row.n }), { onError: "skip" });
    expect(await doubled.take(3)).toEqual([{ twice: 0 }, { twice: 2 }, { twice: 4 }]);
    const inBatches = stuckAfterTen().mapBatches((batch) => ({ m: batch.n }), { batchSize: 2 });
    expect(await inBatches.take(3)).toEqual([{ m: 0 }, { m: 1 }, { m: 2 }]);
    const last = endless().filter((row) => row.n >= 100_000);
    expect(await last.take(1)).toEqual([{ n: 100_000 }]);
  });

  test("[A10] a limit above functions of other stages stops it", { timeout: 30_000 }, async () => {
    class Same {
      call(batch: { n: ArrayLike<number> }) {
        return { n: Array.from(batch.n) };
      }
    }
    const one = { batchSize: 1 };
    expect(await stuckAfterTen().mapBatches(Same, one).take(3)).toEqual(ten.slice(0, 3));
    expect(await stuckAfterTen().mapBatches(Same, { batchSize: 5 }).limit(2).takeAll()).toEqual(ten.slice(0, 2));
    const odd = stuckAfterTen()
      .mapBatches(Same, one)
      .filter((row) => row.n % 2 === 1);
    expect(await odd.take(3)).toEqual([{ n: 1 }, { n: 3 }, { n: 5 }]);
    const twice = stuckAfterTen().limit(1_000_000).mapBatches(Same, one).mapBatches(Same, one);
    expect(await twice.take(2)).toEqual(ten.slice(0, 2));
    const slow = source()
      .map(async (row) => (row.id > 0 ? new Promise<Counted>(() => {}) : { n: row.id }), { maxInFlight: 1 })
      .mapBatches(Same, one);
    expect(await slow.take(1)).toEqual(ten.slice(0, 1));
  });

  test("[A6] a limit above a union of them, and in an input of a join or a sort, stops them", async () => {
    expect(await endless().union(endless()).take(10)).toEqual(ten);
    expect(await stuckAfterTen().union(stuckAfterTen()).limit(10).takeAll()).toEqual(ten);
    const sorted = endless().limit(4).sort("n", { descending: true });
    expect(await sorted.takeAll()).toEqual([{ n: 3 }, { n: 2 }, { n: 1 }, { n: 0 }]);
    const names = s.fromItems([{ n: 1, name: "one" }]);
    const joined = endless().join(names, { on: "n", how: "left" }).limit(2);
    expect((await joined.takeAll()).sort((a, b) => a.n - b.n)).toEqual([
      { n: 0, name: null },
      { n: 1, name: "one" },
    ]);
    const inner = endless().limit(3).join(names, { on: "n" });
    expect(await inner.takeAll()).toEqual([{ n: 1, name: "one" }]);
  });

  test("[A14] a limit stops one whose failures are skipped", async () => {
    const skipping = source().flatMap(
      function* () {
        for (let n = 0; ; n++) yield { n };
      },
      { onError: "skip" },
    );
    expect(await skipping.take(10)).toEqual(ten);
    const batches = source().mapBatches(
      async function* () {
        for (let n = 0; n < 10; n++) yield { n: [n] };
        await new Promise(() => {});
      },
      { onError: "skip" },
    );
    expect(await batches.take(10)).toEqual(ten);
    expect(await skipping.filter((row) => row.n >= 100).take(1)).toEqual([{ n: 100 }]);
  });

  test("[A9] rows of a limit are written", async () => {
    const directory = join(temporaryDirectory("never-ending"), "out");
    await endless().limit(10).writeParquet(directory);
    expect(await s.readParquet(directory).takeAll()).toEqual(ten);
  });

  test("[A10] leaving a loop ends a generator that never gives the event loop a turn", async () => {
    const texts = source().flatMap(function* () {
      for (let n = 0; ; n++) yield { n, text: "x".repeat(10_000) };
    });
    for await (const row of texts.iterRows()) if (row.n >= 3) break;
    expect(await s.range(3).count()).toBe(3);
  });
});

describe("the user's finally", () => {
  const log = () => join(temporaryDirectory("finally"), "log");

  test("[A10] runs when a limit has its rows", async () => {
    const [path, other, third] = [log(), log(), log()];
    const one = s.range(1).flatMap(async function* () {
      try {
        for (let n = 0; ; n++) yield { n };
      } finally {
        await new Promise((resolve) => setTimeout(resolve, 20));
        appendFileSync(path, "closed");
      }
    });
    expect(await one.take(2)).toEqual(ten.slice(0, 2));
    expect(readFileSync(path, "utf8")).toBe("closed");
    const sync = s.range(1).flatMap(function* () {
      try {
        for (let n = 0; ; n++) yield { n };
      } finally {
        appendFileSync(other, "closed");
      }
    });
    expect(await sync.take(2)).toEqual(ten.slice(0, 2));
    expect(readFileSync(other, "utf8")).toBe("closed");
    const batches = s.range(1).mapBatches(function* () {
      try {
        for (let n = 0; ; n++) yield { n: [n] };
      } finally {
        appendFileSync(third, "closed");
      }
    });
    expect(await batches.take(2)).toEqual(ten.slice(0, 2));
    expect(readFileSync(third, "utf8")).toBe("closed");
  });

  test("[A14] runs when a row that was yielded is refused, and what it throws fails the job", async () => {
    const path = log();
    const refused = s.range(1).flatMap(function* () {
      try {
        yield { n: 1 };
        yield "no row" as unknown as { n: number };
      } finally {
        appendFileSync(path, "closed");
      }
    });
    await expect(refused.takeAll()).rejects.toThrow(FunctionError);
    expect(existsSync(path)).toBe(true);
    const throwing = s.range(1).flatMap(function* () {
      try {
        for (let n = 0; ; n++) yield { n };
      } finally {
        // biome-ignore lint/correctness/noUnsafeFinally: what a user may write
        throw new Error("not closed");
      }
    });
    await expect(throwing.take(2)).rejects.toThrow("not closed");
  });
});

describe("leaving while the next rows are waited for", () => {
  const oneWorker = sessions.open({ workers: 1 });
  const marker = join(sessions.directory, "running");
  const computing = () =>
    oneWorker.range(10).map((row) => {
      process.getBuiltinModule("node:fs").writeFileSync(marker, "");
      for (;;) if (row.id < 0) return row;
    });
  const neverResolved = () =>
    oneWorker.range(10).map(() => {
      process.getBuiltinModule("node:fs").writeFileSync(marker, "");
      return new Promise<{ id: number }>(() => {});
    });

  async function untilCalled(): Promise<void> {
    while (!existsSync(marker)) await new Promise((resolve) => setTimeout(resolve, 5));
    rmSync(marker);
  }

  test.each([
    ["rows of a function that never ends", () => computing().iterRows()],
    ["rows of a promise that never resolves", () => neverResolved().iterRows()],
    ["batches of a function that never ends", () => computing().iterBatches()],
  ] as const)("[A10] %s", async (_, iterate) => {
    const iterator = iterate();
    const waited = iterator.next();
    await untilCalled();
    await iterator.return?.(undefined);
    expect(await waited).toEqual({ value: undefined, done: true });
    expect(await oneWorker.range(3).takeAll()).toHaveLength(3);
  });

  test("[A10] a stream that is destroyed", async () => {
    const stream = computing().toNodeStream();
    stream.resume();
    await untilCalled();
    stream.destroy();
    await once(stream, "close");
    expect(await oneWorker.range(3).takeAll()).toHaveLength(3);
  });
});
