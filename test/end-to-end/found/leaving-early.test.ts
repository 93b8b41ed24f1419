/** Leaving an iterator while its next rows are still waited for cancels at once, whatever the function does. */
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testSessions } from "../../support/sessions.ts";

const sessions = testSessions("leaving-early");
const s = sessions.open({ workers: 1 });

const marker = join(sessions.directory, "running");
const endless = () =>
  s.range(10).map((row) => {
    process.getBuiltinModule("node:fs").writeFileSync(marker, "");
    for (;;) if (row.id < 0) return row;
  });
const neverResolved = () =>
  s.range(10).map(() => {
    process.getBuiltinModule("node:fs").writeFileSync(marker, "");
    return new Promise<{ id: number }>(() => {});
  });

/** Until the function has been called. */
async function running(): Promise<void> {
  while (!existsSync(marker)) await new Promise((resolve) => setTimeout(resolve, 5));
  rmSync(marker);
}

describe("leaving while the next rows are waited for", () => {
  test.each([
    ["rows of a function that never ends", () => endless().iterRows()],
    ["rows of a promise that never resolves", () => neverResolved().iterRows()],
    ["batches of a function that never ends", () => endless().iterBatches()],
  ] as const)("[A10] %s", async (_, iterate) => {
    const iterator = iterate();
    const waited = iterator.next();
    await running();
    await iterator.return?.(undefined);
    expect(await waited).toEqual({ value: undefined, done: true });
    expect(await s.range(3).takeAll()).toHaveLength(3);
  });

  test("[A10] a stream that is destroyed", async () => {
    const stream = endless().toNodeStream();
    stream.resume();
    await running();
    stream.destroy();
    await once(stream, "close");
    expect(await s.range(3).takeAll()).toHaveLength(3);
  });
});

describe("arguments of the wrong type", () => {
  test("[A1] are named as they are", () => {
    const wrong: unknown[] = [null, undefined, "3", Number.NaN, Number.POSITIVE_INFINITY];
    for (const value of wrong) {
      const shown = typeof value === "string" ? JSON.stringify(value) : String(value);
      expect(() => s.range(value as number)).toThrow(`range: ${shown} is no whole number of at most 2^53 - 1.`);
      expect(() => s.range(1).limit(value as number)).toThrow(`limit: the number of rows is ${shown};`);
    }
    expect(() => s.readParquet(5 as unknown as string)).toThrow("readParquet: a path is a text");
    expect(() => s.readCsv(null as unknown as string)).toThrow("readCsv: a path is a text");
  });
});
