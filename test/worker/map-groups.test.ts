/** A function once for each group of rows that come sorted by their keys. */
import { describe, expect, test } from "vitest";
import { concatBatches, type RecordBatch, type Row, sliceBatch, toRows } from "../../src/arrow/index.ts";
import { FunctionError, RowShapeError } from "../../src/errors/index.ts";
import type { OnError } from "../../src/protocol/index.ts";
import type { Link } from "../../src/worker/link.ts";
import { Failures } from "../../src/worker/steps/failures.ts";
import { type GroupFunction, GroupFunctionStep } from "../../src/worker/steps/group-function.ts";
import { GroupStreamStep } from "../../src/worker/steps/group-stream.ts";
import { columns, rows } from "./task-bench.ts";

interface Setting extends Partial<GroupFunction> {
  readonly onError?: OnError;
  readonly stream?: boolean;
  readonly slow?: Promise<void>;
}

function harness(call: (group: never) => unknown, setting: Setting = {}) {
  const out: RecordBatch[] = [];
  const dropped = { rows: 0 };
  const scope = {
    files: [],
    check: () => {},
    turn: () => {},
    blamesRows: false,
    errored: (count: number) => {
      dropped.rows += count;
    },
  };
  const end: Link = {
    push: (batch) => {
      out.push(concatBatches([batch]));
    },
    end: () => {},
    close: () => {},
    wanted: Number.POSITIVE_INFINITY,
    takesEach: true,
  };
  const failures = new Failures("mapGroups(fn)", setting.onError ?? "fail", (stack) => stack, scope, null);
  const fn: GroupFunction = {
    call: (group) => call(group as never),
    keys: ["k"],
    format: "columns",
    batchSize: 1000,
    values: {},
    declared: undefined,
    passes: undefined,
    maxInFlight: 1,
    ...setting,
  };
  const Step = setting.stream === true ? GroupStreamStep : GroupFunctionStep;
  const step = new Step(fn, failures, end, scope);
  return { step, out, dropped, rows: (): Row[] => out.flatMap((batch) => toRows(batch, {})) };
}

async function run(batches: readonly RecordBatch[], call: (group: never) => unknown, setting: Setting = {}) {
  const { step, dropped, out, rows } = harness(call, setting);
  try {
    for (const batch of batches) await step.push(batch);
    await step.end();
  } finally {
    step.close();
  }
  return { rows: rows(), dropped: dropped.rows, batches: out };
}

type Group = { readonly k: ArrayLike<unknown>; readonly v: ArrayLike<number> };
const total = ({ k, v }: Group) => [{ k: k[0], n: v.length, sum: Array.from(v).reduce((a, b) => a + b, 0) }];

/** Groups of 1, 2, 3, … rows. */
const sorted = columns({
  k: Int32Array.from({ length: 500 }, (_, i) => Math.floor((Math.sqrt(8 * i + 1) - 1) / 2)),
  v: Float64Array.from({ length: 500 }, (_, i) => i),
});
const expected = () => {
  const found = new Map<unknown, Row>();
  for (const { k, v } of toRows(sorted, {})) {
    const row = found.get(k) ?? { k, n: 0, sum: 0 };
    found.set(k, { k, n: Number(row.n) + 1, sum: Number(row.sum) + Number(v) });
  }
  return [...found.values()];
};

function cut(batch: RecordBatch, size: number): RecordBatch[] {
  return Array.from({ length: Math.ceil(batch.length / size) }, (_, i) => sliceBatch(batch, i * size, (i + 1) * size));
}

describe("[A8] mapGroups", () => {
  test.each([1, 2, 7, 64, 499, 500])("gives each group whole, however the rows are cut (%i)", async (size) => {
    expect((await run(cut(sorted, size), total)).rows).toEqual(expected());
  });

  test("in rows and as an Arrow table", async () => {
    const asRows = (group: readonly Row[]) => [{ k: group[0]?.k, n: group.length }];
    const asTable = (table: { numRows: number; getChild(name: string): { at(i: number): unknown } }) => [
      { k: table.getChild("k").at(0), n: table.numRows },
    ];
    const counts = expected().map(({ k, n }) => ({ k, n }));
    expect((await run(cut(sorted, 64), asRows, { format: "rows" })).rows).toEqual(counts);
    expect((await run(cut(sorted, 64), asTable, { format: "arrow" })).rows).toEqual(counts);
  });

  test("nulls, not-a-numbers and both zeros are a group each; several keys", async () => {
    const numbers = columns({
      k: [-0, 0, 1, Number.NaN, Number.NaN, null, null],
      v: Float64Array.from({ length: 7 }, (_, i) => i),
    });
    const found = (await run(cut(numbers, 1), ({ k, v }: Group) => [{ k: String(k[0]), n: v.length }])).rows;
    expect(found.map(({ n }) => n)).toEqual([2, 1, 2, 2]);
    const two = rows(
      { k: "a", b: true },
      { k: "a", b: true },
      { k: "a", b: false },
      { k: "ab", b: false },
      { k: "ac", b: false },
      { k: null, b: null },
    );
    const sizes = await run([two], ({ k }: Group) => [{ n: k.length }], { keys: ["k", "b"] });
    expect(sizes.rows.map(({ n }) => n)).toEqual([2, 1, 1, 1, 1]);
  });

  test("answers may be columns, rows, none, or come from a generator, and stay in order", async () => {
    const answers = await run(
      cut(sorted, 64),
      ((group: Group) => {
        const k = Number(group.k[0]);
        if (k % 4 === 0) return { k: Int32Array.of(k) };
        if (k % 4 === 1) return [{ k }];
        if (k % 4 === 2) return [];
        return (function* () {
          yield [{ k }];
          yield { k: Int32Array.of(k) };
        })();
      }) as (group: never) => unknown,
      { declared: new Map([["k", { kind: "int", bits: 32, signed: true }]]) },
    );
    const wanted = expected().flatMap(({ k }) => (Number(k) % 4 === 2 ? [] : Number(k) % 4 === 3 ? [k, k] : [k]));
    expect(answers.rows.map(({ k }) => k)).toEqual(wanted);
  });

  test("[A4] async functions run several at once, and their answers stay in order", async () => {
    let running = 0;
    let most = 0;
    const slow = async (group: Group) => {
      running++;
      most = Math.max(most, running);
      for (let turn = 0; turn < 5 - (Number(group.k[0]) % 5); turn++)
        await new Promise((resolve) => setImmediate(resolve));
      running--;
      return total(group);
    };
    expect((await run(cut(sorted, 50), slow, { maxInFlight: 4 })).rows).toEqual(expected());
    expect(most).toBe(4);
  });

  test("a failure names the group; skipped, it costs its rows alone", async () => {
    const failing = (group: Group) => {
      if (Number(group.k[0]) === 5) throw new TypeError("no fives");
      return total(group);
    };
    const failed = await run([sorted], failing).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(FunctionError);
    expect(String(failed)).toMatch(/mapGroups\(fn\) failed on the group \{ k: 5 \} of 6 rows: TypeError: no fives/);
    const skipped = await run([sorted], failing, { onError: "skip" });
    expect(skipped.dropped).toBe(6);
    expect(skipped.rows).toEqual(expected().filter(({ k }) => k !== 5));
    const half = (group: Group) => (Number(group.k[0]) === 5 ? [...total(group), "no row"] : total(group));
    expect((await run([sorted], half, { onError: "skip" })).rows).toEqual(expected().filter(({ k }) => k !== 5));
  });

  test("keys that are lists are refused, and unknown ones named", async () => {
    await expect(run([columns({ k: [[1]], v: [1] })], total)).rejects.toThrow(RowShapeError);
    await expect(run([columns({ a: [1], v: [1] })], total)).rejects.toThrow(/no column "k"/);
  });

  test("many groups of a row each are put together again", async () => {
    const many = columns({ k: Int32Array.from({ length: 20_000 }, (_, i) => i), v: new Float64Array(20_000) });
    const { batches, rows: found } = await run(cut(many, 2048), total);
    expect(found.length).toBe(20_000);
    expect(batches.length).toBeLessThan(10);
  });
});

describe("[A8] mapGroups over streams", () => {
  const stream = true;
  const sum = async (group: AsyncIterable<Group>) => {
    let row = { k: null as unknown, n: 0, sum: 0 };
    for await (const { k, v } of group) {
      row = { k: k[0], n: row.n + v.length, sum: row.sum + Array.from(v).reduce((a, b) => a + b, 0) };
    }
    return [row];
  };

  test.each([1, 7, 500])("gives each group as batches of at most batchSize rows (pieces of %i)", async (size) => {
    const lengths: number[] = [];
    const counting = async function* (group: AsyncIterable<Group>) {
      for await (const { k, v } of group) {
        lengths.push(v.length);
        yield [{ k: k[0], n: v.length }];
      }
    };
    expect((await run(cut(sorted, size), sum, { stream, batchSize: 8 })).rows).toEqual(expected());
    await run(cut(sorted, size), counting as (group: never) => unknown, { stream, batchSize: 8 });
    expect(Math.max(...lengths)).toBe(8);
    expect(lengths.reduce((a, b) => a + b, 0)).toBe(500);
  });

  test("holds a batch back until the function has taken the one before", async () => {
    const one = columns({ k: new Int32Array(100), v: new Float64Array(100) });
    let go: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    let read = 0;
    const { step } = harness(
      (async (group: AsyncIterable<Group>) => {
        for await (const { v } of group) {
          read += v.length;
          await gate;
        }
        return [{ read }];
      }) as (group: never) => unknown,
      { stream, batchSize: 10 },
    );
    let pushed = false;
    const push = Promise.resolve(step.push(one)).then(() => {
      pushed = true;
    });
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect([read, pushed]).toEqual([10, false]);
    go();
    await push;
    await step.end();
    expect(read).toBe(100);
  });

  test("a function may leave its group early, or fail in it", async () => {
    const first = async (group: AsyncIterable<Group>) => {
      for await (const { k } of group) return [{ k: k[0] }];
      return [];
    };
    expect((await run(cut(sorted, 50), first, { stream, batchSize: 4 })).rows).toEqual(
      expected().map(({ k }) => ({ k })),
    );
    const failing = async (group: AsyncIterable<Group>) => {
      for await (const { k } of group) if (k[0] === 20) throw new Error("not this one");
      return [];
    };
    const skipped = await run(cut(sorted, 50), failing, { stream, batchSize: 4, onError: "skip" });
    expect(skipped.dropped).toBe(21);
    await expect(run(cut(sorted, 50), failing, { stream, batchSize: 4 })).rejects.toThrow(
      /the group \{ k: 20 \}: Error: not this one/,
    );
  });

  test("a task that is over ends a function that waits for more", async () => {
    let ended: unknown = null;
    const { step } = harness(
      (async (group: AsyncIterable<Group>) => {
        try {
          for await (const _ of group);
        } catch (error) {
          ended = error;
        }
        return [];
      }) as (group: never) => unknown,
      { stream, batchSize: 10 },
    );
    await step.push(sorted);
    step.close();
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(String(ended)).toMatch(/its task has ended/);
  });
});
