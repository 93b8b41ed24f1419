/** Durations longer than Node's timers can wait, in a real session. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("long-durations");

test("[K8] [K6] pausedTooLong of 60 days is no alarm that goes off all the time", async () => {
  const memory = { target: false, spill: false, pause: 0.3, terminate: false, pausedTooLong: "60d" } as const;
  const s = sessions.open({ workers: 1, memoryLimit: "512 MiB", worker: { memory } });
  const paused = new Promise((resolve) =>
    s.onEvent((event) => {
      if (event.type === "pressure" && event.to === "paused") resolve(event);
    }),
  );
  const job = s
    .range(1)
    .map(async (row) => {
      const kept = Buffer.alloc(200 << 20, 1);
      await new Promise((resolve) => setTimeout(resolve, 60_000));
      return { id: row.id, bytes: kept.length };
    })
    .takeAll();
  job.catch(() => {});
  await paused;
  // Its answer is one more event, after which the alarm is set.
  await s.memory();
  await s.close();
  const [name = ""] = readdirSync(sessions.stateDirectory);
  const log = readFileSync(join(sessions.stateDirectory, name, "supervisor.log"), "utf8");
  expect(log).not.toContain("TimeoutOverflowWarning");
});
