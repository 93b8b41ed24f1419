import { expect, test } from "vitest";
import type { DeathReason } from "../../src/protocol/index.ts";
import { curveText, deathError } from "../../src/scheduler/oom/deaths.ts";
import { job, tasks } from "../simulate/plans.ts";
import { ended } from "../support/ends.ts";
import { ScriptedSession, splits } from "./scripted-session.ts";

const MIB = 2 ** 20;
const END = {
  curve: [312, 401, 690].map((mib, i) => ({ at: 1000 + i * 2000, private: mib * MIB })),
  oomKills: { container: 1, machine: 3 },
  log: "/logs/worker-1.log",
  tail: "last words",
};

test("[D4] each cause has its own message and its own remedy", () => {
  const causes: readonly DeathReason[] = [
    "systemOom",
    "cgroupOom",
    "monitor",
    "terminate",
    "heap",
    "native",
    "exit",
    "signal",
    "asked",
  ];
  const of = (part: RegExp) =>
    causes.map((cause) => {
      const end = ended({ ...END, cause, ...(cause === "exit" ? {} : { signal: "SIGKILL" }) });
      return part.exec(deathError("map(f)", 42, end, 2, 48 * MIB).message)?.[1];
    });
  expect(new Set(of(/process 42 (.*) while it ran a task, after 2 attempts\./)).size).toBe(causes.length);
  expect(new Set(of(/^Likely causes: (.*)$/m)).size).toBe(causes.length);
  expect(new Set(of(/^What to do: (.*)$/m)).size).toBe(causes.length);
});

test("[M2] one message has exit type, code, signal, the OOM killer's counts, the memory curve, causes, remedies, the log", () => {
  const node = { host: "node-1", used: 960 * MIB, total: 1000 * MIB, threshold: 0.95, users: [] };
  const error = deathError("map(f)", 42, ended({ ...END, signal: "SIGSEGV", cause: "native", node }), 1, null);
  expect(error).toMatchObject({ exitType: "UNEXPECTED_SYSTEM_EXIT", reason: "native", signal: "SIGSEGV" });
  expect(error.message).toBe(
    `map(f): the worker process 42 crashed in native code (SIGSEGV) while it ran a task.
Exit type: UNEXPECTED_SYSTEM_EXIT; exit code: none; signal: SIGSEGV; kills of the system's OOM killer while it lived: 1 in its control group, 3 on the machine.
Its memory: 312 MiB → 401 MiB → 690 MiB in the last 4.0 s.
Node node-1: 960 MiB of 1000 MiB in use (96.0 %), and the monitor acts above 95.0 %.
Likely causes: a fault in the kernel or in a native module that the function uses, or a call of abort.
What to do: run the function alone on the same rows, update the native module or do without it; maxRetries says how often it is tried again.
Its log (/logs/worker-1.log) ends with:
last words`,
  );
});

test("[M2] exit types: errors that nobody caught, connections that broke, workers that did not answer", () => {
  const type = (end: Parameters<typeof ended>[0]) => deathError("f", 1, ended(end), 1, null).exitType;
  expect(type({})).toBe("INTENDED_USER_EXIT");
  expect(type({ tail: "Error: boom\n    at file.js:1:1\n\nNode.js v20.20.2" })).toBe("USER_ERROR");
  expect(type({ signal: "SIGKILL" })).toBe("UNEXPECTED_SYSTEM_EXIT");
  expect(type({ signal: "SIGKILL", connection: "broken" })).toBe("SYSTEM_ERROR");
  expect(type({ signal: "SIGKILL", cause: "asked" })).toBe("INTENDED_SYSTEM_EXIT");
  expect(type({ signal: "SIGKILL", cause: "cgroupOom" })).toBe("NODE_OUT_OF_MEMORY");
});

test("[M2] a long curve is told in five points", () => {
  const curve = Array.from({ length: 41 }, (_, i) => ({ at: i * 200, private: i * 10 * MIB }));
  expect(curveText(curve)).toBe("0 B → 100 MiB → 200 MiB → 300 MiB → 400 MiB in the last 8.0 s");
  expect(curveText(curve.slice(10, 11))).toBe("100 MiB at its last measurement");
  expect(curveText([])).toBe("not measured yet");
});

test("a death is an event with the operator's name; a worker that was told to go is none", () => {
  const session = new ScriptedSession(1, 4);
  session.start(job("j", [tasks(0, splits(1))]), 10);
  session.dies(1);
  const events = session.commands.flatMap((command) => (command.type === "event" ? [command.event] : []));
  expect(events.filter(({ type }) => type === "workerDied")).toMatchObject([
    { worker: 1, reason: "exit", operator: "op0" },
  ]);
});
