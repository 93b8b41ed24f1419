/** A workload run again in a memory box. */
import { duckdbLimit } from "../box-limits.ts";
import type { Bytes, Target, Workload } from "../workload.ts";

const MiB = 2 ** 20;

export interface BoxedOptions {
  readonly rows?: number;
  readonly peers?: Workload["peers"];
  readonly targets: readonly Target[];
}

/** In addition to its own targets: it ends, nothing is killed, and what it holds fits. */
export function boxed(workload: Workload, box: Bytes, options: BoxedOptions): Workload {
  const size = box % (1024 * MiB) === 0 ? `${box / (1024 * MiB)}GiB` : `${box / MiB}MiB`;
  const peers = options.peers ?? workload.peers;
  const aside = peers.includes("duckdb") ? ` (DuckDB's memory_limit: ${Math.round(duckdbLimit(box) / MiB)} MiB)` : "";
  return {
    ...workload,
    name: `${workload.name}-${size}`,
    group: `box-${size}`,
    program: workload.program ?? workload.name,
    title: `${workload.title}, in a box of ${size}${aside}`,
    rows: options.rows ?? workload.rows,
    peers,
    runs: 1,
    box,
    targets: [
      ...options.targets,
      { kind: "below", figure: "boxHeld", limit: box },
      { kind: "below", figure: "boxKills", limit: 1 },
    ],
  };
}

/** The boxes for relational work: within 1.3 of DuckDB in the large box, and to the end in the small one. */
export const inBoxes = (workload: Workload): Workload[] => [
  boxed(workload, 2048 * MiB, { targets: [{ kind: "within", of: "duckdb", factor: 1.3 }], peers: ["duckdb"] }),
  boxed(workload, 512 * MiB, { targets: [], peers: ["duckdb"] }),
];
