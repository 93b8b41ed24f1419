/** Paths: the folders of the benchmark, and what it makes in them (all of it ignored by git). */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BENCH = fileURLToPath(new URL(".", import.meta.url));

export const places = {
  project: join(BENCH, ".."),
  /** Generated tables. */
  data: join(BENCH, ".data"),
  /** Reports, compiled programs, what the engines write. */
  out: join(BENCH, ".out"),
  programs: join(BENCH, ".out", "js", "bench", "programs"),
  written: join(BENCH, ".out", "written"),
  peers: join(BENCH, "peers"),
  venv: join(BENCH, ".venv"),
  programsConfig: join(BENCH, "tsconfig.json"),
} as const;
