/** What the event file of a real session tells beyond figures: recipes of operators, settings, the scene of a death. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { col } from "spillway";
import { expect, test } from "vitest";
import { readRecords } from "../../src/events/index.ts";
import type { RecordedEvent } from "../../src/protocol/index.ts";
import { findSession } from "../../src/sessions/index.ts";
import { testSessions, workerPids } from "../support/sessions.ts";

const sessions = testSessions("event-details");

function eventsOf(name: string): RecordedEvent[] {
  const { directory } = findSession(name, sessions.stateDirectory);
  return [...readRecords(directory)].flatMap((record) => (record === null || record.type === "snapshot" ? [] : record));
}

function newest(): string {
  return findSession(undefined, sessions.stateDirectory).name;
}

test("[O7] a job's start tells what its operators do and what they ask for", async () => {
  const s = sessions.open();
  await s
    .range(10)
    .where(col("id").gt(2))
    .map(function doubled(row) {
      return { id: row.id * 2 };
    })
    .mapBatches((batch) => batch, { batchSize: 7, numCpus: 0.5, concurrency: 2 })
    .takeAll();
  const name = newest();
  await s.close();
  const started = eventsOf(name).find((event) => event.type === "jobStarted");
  const recipes = started?.operators.map(({ recipe }) => recipe) ?? [];
  expect(recipes.flatMap((recipe) => recipe?.functions ?? [])).toEqual([
    "map(doubled)",
    expect.stringMatching(/^mapBatches/),
  ]);
  expect(recipes.flatMap((recipe) => recipe?.sql ?? []).join("\n")).toContain("range(0, 10");
  expect(recipes.at(-1)).toMatchObject({ batchSize: 7, request: { cpu: 0.5 }, concurrency: 2, sink: "blocks" });
});

test("[K8] the settings in force are told with their sources, and without the values of variables", async () => {
  const s = sessions.open({ workers: 1, workerEnv: { API_KEY: "hunter2" } });
  await s
    .range(1)
    .map((row) => row)
    .takeAll();
  const name = newest();
  await s.close();
  const events = eventsOf(name);
  const start = events.find((event) => event.type === "sessionStarted");
  const settings = new Map(start?.settings.map(({ path, ...setting }) => [path, setting]));
  expect(settings.get("workers")).toEqual({ value: "1", from: "session" });
  expect(settings.get("worker.memory.pause")).toEqual({ value: "0.8", from: "default" });
  expect(settings.get("workerEnv")?.value).toContain("API_KEY");
  expect(JSON.stringify(events)).not.toContain("hunter2");
});

test("[M2] a death is told with the files that its task read and the node's memory before it", async () => {
  const file = join(sessions.directory, "numbers.csv");
  writeFileSync(file, `n\n${Array.from({ length: 100 }, (_, n) => n).join("\n")}\n`);
  const s = sessions.open({ workers: 1 });
  const slow = s.readCsv<{ n: number }>(file).map(
    async (row) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return row;
    },
    { maxInFlight: 1 },
  );
  const rows = slow.takeAll();
  await expect.poll(() => findSession(undefined, sessions.stateDirectory).status).toBe("running");
  const name = newest();
  await expect.poll(() => eventsOf(name).filter(({ type }) => type === "node").length).toBeGreaterThan(1);
  const [pid] = workerPids(name);
  if (pid === undefined) throw new Error(`session ${name} has no worker`);
  process.kill(pid, "SIGKILL");
  expect((await rows).length).toBe(100);
  await s.close();
  const events = eventsOf(name);
  const gone = events.find((event) => event.type === "workerGone" && event.pid === pid);
  expect(gone).toMatchObject({ signal: "SIGKILL", files: [file] });
  expect(gone?.type === "workerGone" && gone.nodeCurve.length).toBeGreaterThan(1);
  expect(events.find(({ type }) => type === "retry")).toMatchObject({ files: [file], worker: expect.any(Number) });
});
