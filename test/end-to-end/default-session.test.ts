/** The session behind the exported functions (A1, A17), and programs that end while it has work. */
import { configure, defaultSession, fromItems, range, SessionClosedError } from "spillway";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("default-session");

test("[A17] defaultSession() is the session of the exported functions, and a new one after it was closed", async () => {
  configure({ workers: 1, localDirectory: sessions.localDirectory, progress: false });
  const first = defaultSession();
  const kept = await range(10).materialize();
  expect((await first.memory()).store.resident).toBeGreaterThan(0);
  expect((await first.resources()).total.cpu).toBe(1);
  kept.dispose();
  await first.close();
  expect(first.isClosed).toBe(true);
  await expect(kept.takeAll()).rejects.toThrow();
  await expect(first.range(3).takeAll()).rejects.toThrow(SessionClosedError);
  // With the options that were configured.
  expect(defaultSession()).not.toBe(first);
  expect(await fromItems([{ a: 1 }]).takeAll()).toEqual([{ a: 1 }]);
  expect((await defaultSession().resources()).total.cpu).toBe(1);
  await defaultSession().close();
});
