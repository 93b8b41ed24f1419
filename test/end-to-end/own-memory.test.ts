/** The memory of the session's own processes, beside that of its workers. */
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const MIB = 2 ** 20;
const sessions = testSessions("own-memory");

test("[M7] a run's stats have what the supervisor and the program took, each without the processes it started", async () => {
  const s = sessions.open({ workers: 1 });
  const kept = Buffer.alloc(200 * MIB, 1);
  const ds = s.range(1).map((row) => {
    const worker = Buffer.alloc(300 << 20, 1);
    return { id: row.id, bytes: worker.length };
  });
  expect(await ds.count()).toBe(1);
  const { job } = ds.stats();
  expect(job?.peakProgramMemory).toBeGreaterThan(kept.length);
  // The system adds up the pages of each thread in batches of 64, so its peak may be a little below what was there.
  expect(job?.peakProgramMemory).toBeLessThanOrEqual(process.resourceUsage().maxRSS * 1024 + 4 * MIB);
  expect(job?.peakSupervisorMemory).toBeGreaterThan(10 * MIB);
  expect(job?.peakSupervisorMemory).toBeLessThan(150 * MIB);
  expect(job?.peakWorkerMemory).toBeGreaterThan(300 * MIB);
  expect(String(ds.stats())).toMatch(/peak memory: worker .*, supervisor [\d.]+ MiB, program [\d.]+ MiB, store /);
  await s.close();
});

test("[K9] [M7] the first answer of session.memory has every worker of the session, each with its memory", async () => {
  const s = sessions.open({ workers: 3 });
  const { workers, supervisor, program } = await s.memory();
  expect(workers.length).toBe(3);
  for (const { pid, process: bytes } of workers) expect([typeof pid, bytes > 10 * MIB]).toEqual(["number", true]);
  for (const { private: bytes } of [supervisor, program]) expect(bytes).toBeGreaterThan(10 * MIB);
  await s.close();
});
