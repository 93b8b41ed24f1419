/** What tasks take is seen in real workers, shown, and remembered for the next program. */
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { testSessions } from "../support/sessions.ts";

const MIB = 2 ** 20;
const sessions = testSessions("appetites");
let state = "";

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "spillway-test-state-"));
  vi.stubEnv("XDG_STATE_HOME", state);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(state, { recursive: true, force: true });
});

/** Takes 200 MB for each batch. */
function fills(batch: { readonly id: Iterable<number | bigint> }) {
  const held = Buffer.alloc(200_000_000, 1);
  return { id: Array.from(batch.id, (id) => Number(id) * (held.at(-1) ?? 0)) };
}

test("[M11] the figure is in stats, explain and the events, and a later program begins with it", async () => {
  const first = sessions.open({ workers: 2 });
  const ds = first.range(8, { overrideNumBlocks: 4 }).mapBatches(fills, { batchSize: 2 });
  await ds.takeAll();
  const { appetite, addedMemory } = ds.stats().operators[0] ?? {};
  expect(appetite?.from).toBe("tasks");
  expect(appetite?.bytes).toBeGreaterThan(190 * MIB);
  expect(addedMemory).toBeGreaterThan(190 * MIB);
  expect(String(ds.stats())).toMatch(/Expected memory of a task: about \d+ MiB, by its last tasks/);
  expect(await ds.explain()).toMatch(/memory of a task: about \d+ MiB, by its last tasks/);
  await first.close();

  const file = join(state, "spillway", "appetites.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const [entry] = Object.values<{ readonly bytes: number }>(JSON.parse(readFileSync(file, "utf8")).entries);
  expect(entry?.bytes).toBe(appetite?.bytes);

  const second = sessions.open({ workers: 2 });
  const again = second.range(2, { overrideNumBlocks: 1 }).mapBatches(fills, { batchSize: 2 });
  const running = again.takeAll();
  await running;
  // One task is no proof that the earlier program was wrong.
  expect(again.stats().operators[0]?.appetite?.bytes).toBeGreaterThan(190 * MIB);
  await second.close();
});
