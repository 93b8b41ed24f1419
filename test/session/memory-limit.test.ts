/** Another memory limit, as the program's side of a session has it. */
import { expect, test } from "vitest";
import { SessionEngine } from "../../src/session/engine.ts";

const MIB = 2 ** 20;

test("[K1] blocks follow a limit that is changed: a quarter of a worker's heap at most", async () => {
  const engine = new SessionEngine({ workers: 1, objectStoreMemory: "1 GiB", memoryLimit: "1 GiB" });
  expect(engine.settings.targetMaxBlockSize).toBe(128 * MIB);
  await engine.setMemoryLimit("128 MiB");
  expect(engine.settings.targetMaxBlockSize).toBe(24 * MIB);
  await engine.setMemoryLimit("1 GiB");
  expect(engine.settings.targetMaxBlockSize).toBe(128 * MIB);
  await engine.close();
});
