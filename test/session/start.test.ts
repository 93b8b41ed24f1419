/** A supervisor that does not come up: whatever it does, its process is ended and what it made is removed. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SessionClosedError } from "../../src/errors/index.ts";
import { Client } from "../../src/session/client.ts";
import { startSupervisor } from "../../src/session/start.ts";
import { sessionDirectory } from "../../src/supervisor/options.ts";
import { supervisorOptions } from "../supervisor/harness.ts";
import { processes } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const directory = temporaryDirectory("start");

function program(name: string, source: string): string {
  const path = join(directory, `${name}.mjs`);
  writeFileSync(path, source);
  return path;
}

test("[A15] one that never answers is killed, also where it hears no signal", async () => {
  const options = supervisorOptions({ localDirectory: directory });
  const deaf = program("deaf", 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);');
  const failure = startSupervisor(options, deaf, 300);
  await expect(failure).rejects.toBeInstanceOf(SessionClosedError);
  await expect(failure).rejects.toThrow(/it did not answer within 0\.3 s/);
  expect(processes([options.session])).toEqual([]);
});

test("[A15] one that says it is ready and does not listen is ended, and its directory removed", async () => {
  const options = supervisorOptions({ localDirectory: directory });
  const own = sessionDirectory(options);
  const record = { supervisor: { pid: 2 ** 22 + 1, started: null }, workers: [], arena: null, spill: [] };
  mkdirSync(own, { recursive: true, mode: 0o700 });
  writeFileSync(join(own, "pids.json"), JSON.stringify(record), { mode: 0o600 });
  const idle = program(
    "idle",
    `console.log(${JSON.stringify(JSON.stringify({ directory: own }))}); setInterval(() => {}, 1000);`,
  );
  const starting = startSupervisor(options, idle);
  await expect(Client.start(options, { notice() {}, event() {} }, null, starting)).rejects.toBeInstanceOf(
    SessionClosedError,
  );
  expect(processes([options.session])).toEqual([]);
  expect(existsSync(own)).toBe(false);
});
