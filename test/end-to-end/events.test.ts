/** Listeners of a session's events: what they throw is the program's matter, and nobody else's. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { OptionError } from "spillway";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const root = join(import.meta.dirname, "../..");
const sessions = testSessions("events");

const PROGRAM = `
import { session } from "spillway";
const thrown = [];
process.on("uncaughtException", (error) => thrown.push(error.message));
const s = session({ workers: 1, progress: false });
const seen = [];
s.onEvent(() => { throw new Error("a listener's own") });
s.onEvent((event) => seen.push(event.type));
await s.rebalance();
await s.rebalance();
const rows = await s.range(3).map((row) => ({ id: row.id })).takeAll();
await s.close();
console.log(JSON.stringify({ thrown, seen, rows: rows.length }));
`;

test("[K15] a listener that throws stops no other and no job; the error is the program's, as of any listener", () => {
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", PROGRAM], {
    cwd: root,
    encoding: "utf8",
    timeout: 50_000,
  });
  expect(JSON.parse(stdout)).toEqual({
    thrown: ["a listener's own", "a listener's own"],
    seen: ["rebalanced", "rebalanced"],
    rows: 3,
  });
});

test("[K1] what is no listener, and no limit, is refused at once", async () => {
  const s = sessions.open({});
  expect(() => s.onEvent("pressure" as unknown as () => void)).toThrow(OptionError);
  await expect(s.setMemoryLimit(undefined as unknown as string)).rejects.toThrow(
    'setMemoryLimit: give a limit: "2 GiB", a share of the memory, "auto", or 0 for no limit.',
  );
  await s.close();
});
