/** What functions ask for and what sessions allow, with real workers. */
import { OptionError, type Session } from "spillway";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("resources");

/** When the function ran, task by task. */
async function times(s: Session, numCpus: number): Promise<{ pid: number; from: number; to: number }[]> {
  const rows = await s
    .range(4, { overrideNumBlocks: 4 })
    .map(
      (row) => {
        const from = performance.timeOrigin + performance.now();
        while (performance.timeOrigin + performance.now() < from + 60) {
          // Computes.
        }
        return { id: row.id, pid: process.pid, from, to: performance.timeOrigin + performance.now() };
      },
      { numCpus },
    )
    .takeAll();
  return rows.sort((a, b) => a.from - b.from);
}

test("[O5] numCpus: 2 on two cores is one task at a time; numCpus: 0 is allowed", async () => {
  const s = sessions.open({ workers: 2 });
  const alone = await times(s, 2);
  for (const [i, row] of alone.entries()) expect(row.from).toBeGreaterThanOrEqual(alone[i - 1]?.to ?? 0);
  expect((await times(s, 0)).length).toBe(4);
  await s.close();
});

test("[O5] a function that asks for more memory than a worker has gets a worker that has it", async () => {
  const s = sessions.open({ workers: 2, memoryLimit: "96 MiB" });
  const fill = (row: { id: number }) => {
    const kept: number[][] = [];
    for (let i = 0; i < 160; i++) kept.push(new Array<number>(131_072).fill(i + 0.5));
    return { id: row.id, mebibytes: kept.length, pid: process.pid };
  };
  await expect(s.range(1).map(fill).takeAll()).rejects.toThrow(/heap limit of 72.0 MiB.*option memory/s);
  const rows = await s.range(3, { overrideNumBlocks: 3 }).map(fill, { memory: "512 MiB" }).takeAll();
  expect(rows.map(({ mebibytes }) => mebibytes)).toEqual([160, 160, 160]);
  // Afterwards all workers are as before.
  await expect(s.range(1).map(fill).takeAll()).rejects.toThrow(/heap limit of 72.0 MiB/);
  await s.close();
});

test("[O5] what can never be had is an error before anything runs", async () => {
  const s = sessions.open({ workers: 2, resourceLimits: { memory: "1 GiB" } });
  const double = ({ id }: { id: number }) => ({ id });
  await expect(s.range(1).map(double, { numCpus: 3 }).takeAll()).rejects.toThrow(
    "map(double): a task needs numCpus 3, and the session has 2 in all. Lower numCpus, or give the session more workers",
  );
  await expect(s.range(1).map(double, { memory: "2 GiB" }).takeAll()).rejects.toThrow("the session has 1.0 GiB in all");
  await expect(s.range(1).map(double, { numGpus: 64 }).takeAll()).rejects.toBeInstanceOf(OptionError);
  for (const bad of [
    { numCpus: -1 },
    { numGpus: 1.5 },
    { memory: "much" },
    { numCpus: Number.NaN },
    { batchSize: 0 },
  ]) {
    expect(() => s.range(1).map(double, bad), JSON.stringify(bad)).toThrow(OptionError);
  }
  await s.close();
});
