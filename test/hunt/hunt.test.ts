/** A few cases of the hunt in every run of the tests, without Python; and the command itself. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const project = fileURLToPath(new URL("../..", import.meta.url));

function hunt(...args: readonly string[]) {
  const env = { ...process.env, SPILLWAY_CONFIG: "/dev/null" };
  return spawnSync(process.execPath, ["--import", "tsx", "test/hunt/main.ts", "--no-python", ...args], {
    cwd: project,
    env,
    encoding: "utf8",
  });
}

test("[A16] hostile rows in random plans give what the kernel's SQL gives, in four time zones", () => {
  // The end of a round, two whole ones and the beginning of the next: each is in another zone.
  const { status, stdout } = hunt("--from", "18", "--seeds", "44", "--seconds", "600", "--jobs", "2");
  expect(stdout).toContain("; 0 differ.");
  expect(status).toBe(0);
});

test("a kind that does not exist is answered with those that do", () => {
  const { status, stdout } = hunt("--only", "unicorns");
  expect(status).toBe(2);
  expect(stdout).toContain("--only KIND");
});
