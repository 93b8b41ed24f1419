/** A function that leaks on the heap, as most leaks do: its workers are replaced before V8 would end them. */
import type { Session } from "spillway";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("heap-leak");

type SessionEvent = Parameters<Parameters<Session["onEvent"]>[0]>[0];

test("[K11] an array outside of a function that grows with every row: the job is done, and no worker dies of it", async () => {
  // A heap of 96 MiB. Nobody looks at the process in time: only what it tells of its heap can save it.
  const s = sessions.open({ workers: 2, memoryLimit: "128 MiB", worker: { memory: { monitorInterval: "60s" } } });
  const events: SessionEvent[] = [];
  s.onEvent((event) => events.push(event));
  const kept: number[][] = [];
  const rows = await s
    .range(60, { overrideNumBlocks: 60 })
    .map(({ id }) => {
      // 4 MiB a task: all of them are more than two heaps hold.
      kept.push(new Array(2 ** 19).fill(id + 0.5));
      return { id, last: kept.at(-1)?.[0] ?? null };
    })
    .takeAll();
  expect(rows.sort((a, b) => a.id - b.id)).toEqual(Array.from({ length: 60 }, (_, id) => ({ id, last: id + 0.5 })));
  const replaced = events.flatMap((event) => (event.type === "recycled" ? [event.why] : []));
  expect(replaced.length).toBeGreaterThan(1);
  for (const why of replaced)
    expect(why).toMatch(/heap has grown from .* of its 96\.0 MiB over \d+ tasks of range->map/);
  expect(events.filter(({ type }) => type === "workerDied" || type === "oomRetry")).toEqual([]);
  await s.close();
});
