/** `spillway memory`: the workers and the wide kernel of a session that has both. */
import { expect, test } from "vitest";
import { spillway } from "../support/command-line.ts";
import { sessionNames, testSessions } from "../support/sessions.ts";

const sessions = testSessions("cli-memory");

test("[M10] memory shows the limit of workers at workers alone: the wide kernel has none", async () => {
  const s = sessions.open({ workers: 1, memoryLimit: "512 MiB", objectStoreMemory: "16 MiB" });
  const sorted = s
    .range(100)
    .map(({ id }) => ({ id: -id }))
    .sort("id");
  expect(await sorted.take(1)).toEqual([{ id: -99 }]);
  const [name = ""] = sessionNames(sessions.stateDirectory);
  const { stdout } = spillway(["memory", name]);
  const told = JSON.parse(spillway(["memory", name, "--json"]).stdout);
  await s.close();
  expect(stdout).toMatch(/^\d+ +.* 512 MiB /m);
  expect(stdout).toMatch(/^\d+ \(wide\) .* none /m);
  const limits = told.workers.map(({ kind, limit }: { kind: string; limit: number | null }) => [kind, limit]);
  expect(limits.sort()).toEqual([
    ["wide", null],
    ["worker", 512 << 20],
  ]);
});
