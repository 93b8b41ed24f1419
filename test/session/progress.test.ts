import { expect, test, vi } from "vitest";
import type { JobStats } from "../../src/protocol/index.ts";
import { progressLine } from "../../src/session/progress.ts";

const stats = {
  operators: [{ name: "readParquet->map", tasksDone: 1, tasks: 2, rowsOut: { total: 10 } }],
  peakWorkerMemory: 1,
  peakStoreBytes: 1,
} as unknown as JobStats;

function shownOn(columns: number | undefined): string {
  const written: string[] = [];
  const stream = { isTTY: true, columns, write: (text: string) => written.push(text) };
  vi.useFakeTimers();
  try {
    const line = progressLine(stream as unknown as NodeJS.WriteStream);
    vi.advanceTimersByTime(1000);
    line.progress(stats);
  } finally {
    vi.useRealTimers();
  }
  return (written[0] ?? "").replace("\r\x1b[K", "");
}

test("[O11] a terminal that does not know its width shows progress all the same", () => {
  for (const unknown of [0, undefined]) expect(shownOn(unknown)).toMatch(/^readParquet->map 1\/2 tasks, 10 rows/);
});

test("[O11] a line of progress is shorter than the terminal is wide, so that it can be rewritten", () => {
  expect(shownOn(30)).toHaveLength(29);
  expect(shownOn(0).length).toBeLessThan(80);
});
