/** Another allocator in the workers, where it is installed (scripts/test.mjs tries to see to that). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type SessionOptions, session } from "spillway";
import { expect, test } from "vitest";
import { workerEnvironment } from "../../src/session/worker-environment.ts";
import { requires } from "../support/requires.ts";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("allocator");

function whyNot(): string | null {
  try {
    workerEnvironment({ mallocTrimThreshold: false, allocator: "jemalloc", workerEnv: {} });
    return null;
  } catch (error) {
    return String(error);
  }
}

requires("jemalloc", whyNot()).test(
  "[K12] workers have jemalloc, work with it, and trim says which step it left out",
  async () => {
    const s = sessions.open({ workers: 1, allocator: "jemalloc" });
    const [mapped] = await s.run(() => readFileSync("/proc/self/maps", "utf8").includes("libjemalloc.so.2"));
    expect(mapped?.value).toBe(true);
    const rows = await s
      .range(1000)
      .map((row) => ({ id: row.id, text: `row ${row.id}` }))
      .sort("id")
      .takeAll();
    expect(rows.at(-1)).toEqual({ id: 999, text: "row 999" });
    const { workers } = await s.trim();
    for (const { skipped } of workers) expect(skipped).toEqual(["malloc_trim: the allocator is jemalloc"]);
    await s.close();
  },
);

test("[K12] workers have the system's allocator where nothing is said", async () => {
  const s = sessions.open({ workers: 1 });
  const [mapped] = await s.run(() => readFileSync("/proc/self/maps", "utf8").includes("jemalloc.so"));
  expect(mapped?.value).toBe(false);
  await s.close();
});

test("[K12] a bad allocator is refused before anything starts", () => {
  const options: SessionOptions = { localDirectory: join(sessions.directory, "nowhere"), allocator: "none" as never };
  expect(() => session(options)).toThrow('allocator must be one of "system", "jemalloc", not "none"');
});
