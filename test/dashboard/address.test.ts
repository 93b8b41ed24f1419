/** The line with the dashboard's address, which a program prints on a terminal. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";
import { inTerminal } from "../support/terminal.ts";

const cwd = join(import.meta.dirname, "../..");
const { localDirectory } = testSessions("dashboard-address");

/** Two jobs of one session, and then the address as the session has it. */
function program(options: Readonly<Record<string, unknown>>): readonly string[] {
  const text = `
    import { session } from "spillway";
    const s = session(${JSON.stringify({ workers: 1, localDirectory, ...options })});
    await s.range(3).count();
    await s.range(3).map((row) => row).count();
    console.log("it is " + s.dashboardUrl);
    await s.close();`;
  return [process.execPath, "--input-type=module", "-e", text];
}

const LINK = /http:\/\/127\.0\.0\.1:\d+\/\?token=\w+/;

test.each([true, false])("[W1] a terminal is told the address once, with progress: %s", async (progress) => {
  const { lines, code } = await inTerminal(program({ progress }), { cwd, columns: 200 });
  expect(code).toBe(0);
  const [url = "none"] = LINK.exec(lines.at(-1) ?? "") ?? [];
  expect(lines.filter((line) => line.includes("http"))).toEqual([`spillway: dashboard at ${url}`, `it is ${url}`]);
});

test("[W1] without a dashboard, or without a terminal, no address is told", async () => {
  const { lines } = await inTerminal(program({ dashboard: false }), { cwd, columns: 200 });
  expect(lines.join("\n")).not.toContain("http");
  expect(lines.at(-1)).toBe("it is null");
  const [command = "", ...words] = program({});
  const { stdout, stderr } = spawnSync(command, words, { cwd, encoding: "utf8" });
  expect(stdout).toMatch(LINK);
  expect(stderr).not.toContain("http");
});
