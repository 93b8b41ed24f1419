/** The command that runs a program of an engine. */
import { join } from "node:path";
import { places } from "../places.ts";
import type { EngineName } from "../workload.ts";

export interface Command {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export function commandFor(engine: EngineName, program: string, assignment: object, python: string): Command {
  const json = JSON.stringify(assignment);
  switch (engine) {
    case "spillway":
    case "unboxed":
      return { command: [process.execPath, join(places.programs, `${program}.js`), json], env: process.env };
    case "duckdb":
      return { command: [process.execPath, join(places.programs, `${program}.duckdb.js`), json], env: process.env };
    default:
      return {
        command: [python, join(places.peers, `${program.replaceAll("-", "_")}.py`), engine, json],
        // No engine sends usage data during a measurement, and the peers folder stays free of compiled files.
        env: { ...process.env, ...QUIET, PYTHONDONTWRITEBYTECODE: "1" },
      };
  }
}

const QUIET = { RAY_USAGE_STATS_ENABLED: "0", DO_NOT_TRACK: "true", DAFT_PROGRESS_BAR: "0" } as const;
