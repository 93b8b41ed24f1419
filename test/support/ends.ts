/** How a worker ended, for tests that invent its death: a crash by exit code 1, unless the test says otherwise. */
import type { WorkerEnd } from "../../src/scheduler/index.ts";

export function ended(end: Partial<WorkerEnd> = {}): WorkerEnd {
  return {
    exitCode: end.signal === undefined ? 1 : null,
    signal: null,
    cause: end.signal === undefined ? "exit" : "signal",
    tail: "",
    log: "",
    curve: [],
    oomKills: { container: 0, machine: 0 },
    node: null,
    ...end,
  };
}
