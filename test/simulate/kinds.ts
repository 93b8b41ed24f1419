/** The kinds of sessions that are drawn, and how a job of each may end badly without anything being wrong. */

import type { Dangers, MemoryMeans } from "./means.ts";
import type { PlannedJob } from "./plans.ts";
import type { RunningJob } from "./program.ts";
import { fits, type Session, type StoreSize } from "./session.ts";
import type { World } from "./world.ts";

/** As `tasks` of plans.ts says. */
const MAX_OOM_RETRIES = 4;

export const CALM: Dangers = {
  death: 0,
  oom: 0,
  functionError: 0,
  wideFails: 0,
  deaf: 0,
  cancelJob: 0,
  pause: 0,
  diskFull: 0,
  damage: 0,
  slowDisk: 0,
  badStart: 0,
  slowStart: 0,
  hangingStart: 0,
};
const STORM: Dangers = { ...CALM, death: 0.03, deaf: 0.3, cancelJob: 0.2, pause: 0.05, diskFull: 0.2, slowDisk: 0.2 };

export interface Kind {
  readonly dangers: Dangers;
  /** Operators ask for cores, memory and GPUs. */
  readonly demands: boolean;
  /** Functions make a hundred times as much of their input. */
  readonly grows: boolean;
  /** Workers may be answerable for so much only (K3). */
  readonly hasTarget: boolean;
  /** Probability that the program forgets a job without closing it. */
  readonly abandons: number;
  /** Nothing is in the store but what flows. */
  readonly isLean: boolean;
  /** Operators gather their rows: wide tasks, partitions, parts, broadcasts. */
  readonly gathers: boolean;
  /** Probability that a function of a job takes minutes for a block. */
  readonly dawdles: number;
  /** Tasks take memory, and workers and the node have only so much. */
  readonly hasPressure: boolean;
  /** What tasks take of it (means.ts). */
  readonly needs: MemoryMeans["needs"];
  /** Other sessions take a part of the node, and the program grows. */
  readonly isShared: boolean;
  /** For some time no process can be started. */
  readonly breaks: boolean;
  /** The program asks for the memory of all processes now and then. */
  readonly asks: boolean;
}

const PLAIN: Kind = {
  dangers: CALM,
  demands: false,
  grows: false,
  hasTarget: false,
  abandons: 0,
  isLean: false,
  gathers: false,
  dawdles: 0,
  hasPressure: false,
  needs: "chance",
  isShared: false,
  breaks: false,
  asks: false,
};

export const KINDS = {
  calm: PLAIN,
  storm: { ...PLAIN, dangers: STORM },
  rot: { ...PLAIN, dangers: { ...STORM, damage: 0.3 } },
  errors: {
    ...PLAIN,
    dangers: { ...CALM, death: 0.01, functionError: 0.02, deaf: 0.3, cancelJob: 0.2, pause: 0.05 },
  },
  demands: { ...PLAIN, dangers: { ...STORM, diskFull: 0 }, demands: true },
  growing: { ...PLAIN, grows: true },
  target: { ...PLAIN, dangers: { ...STORM, diskFull: 0 }, hasTarget: true },
  abandoned: { ...PLAIN, dangers: { ...CALM, death: 0.01, pause: 0.02 }, abandons: 0.5 },
  gathered: { ...PLAIN, gathers: true },
  wide: { ...PLAIN, dangers: STORM, gathers: true },
  wideRot: { ...PLAIN, dangers: { ...STORM, damage: 0.3 }, gathers: true },
  wideTarget: {
    ...PLAIN,
    dangers: { ...CALM, death: 0.02, pause: 0.05 },
    gathers: true,
    hasTarget: true,
    abandons: 0.2,
  },
  waiting: { ...PLAIN, gathers: true, dawdles: 0.5, isLean: true },
  waitingStorm: { ...PLAIN, dangers: STORM, gathers: true, dawdles: 0.5, isLean: true },
  ways: { ...PLAIN, dangers: { ...CALM, wideFails: 0.7 }, gathers: true },
  waysStorm: { ...PLAIN, dangers: { ...STORM, wideFails: 0.7 }, gathers: true },
  waysRot: { ...PLAIN, dangers: { ...STORM, damage: 0.3, wideFails: 0.7 }, gathers: true },
  waysWaiting: { ...PLAIN, dangers: { ...STORM, wideFails: 0.7 }, gathers: true, dawdles: 0.5, isLean: true },
  waysPressure: { ...PLAIN, dangers: { ...CALM, pause: 0.02, wideFails: 0.7 }, gathers: true, hasPressure: true },
  pressure: { ...PLAIN, dangers: { ...CALM, death: 0.005, deaf: 0.3, cancelJob: 0.1, pause: 0.02 }, hasPressure: true },
  pressureWide: { ...PLAIN, dangers: { ...CALM, pause: 0.02 }, gathers: true, hasTarget: true, hasPressure: true },
  needs: { ...PLAIN, hasPressure: true, needs: "truth" },
  needsWide: { ...PLAIN, hasPressure: true, needs: "truth", gathers: true },
  needsLie: {
    ...PLAIN,
    dangers: { ...CALM, deaf: 0.3, cancelJob: 0.1, pause: 0.02 },
    hasPressure: true,
    needs: "lies",
  },
  needsLieWide: { ...PLAIN, dangers: { ...CALM, pause: 0.02 }, gathers: true, hasPressure: true, needs: "lies" },
  shared: { ...PLAIN, dangers: { ...CALM, death: 0.005, pause: 0.02 }, hasPressure: true, isShared: true },
  sharedWide: {
    ...PLAIN,
    dangers: { ...CALM, pause: 0.02, slowDisk: 0.1 },
    gathers: true,
    hasTarget: true,
    hasPressure: true,
    isShared: true,
  },
  oom: { ...PLAIN, dangers: { ...STORM, diskFull: 0, death: 0.06, oom: 0.8 } },
  oomDemands: { ...PLAIN, dangers: { ...CALM, death: 0.03, oom: 0.8, cancelJob: 0.2, pause: 0.05 }, demands: true },
  oomWide: { ...PLAIN, dangers: { ...CALM, death: 0.04, oom: 0.8, pause: 0.05 }, gathers: true, abandons: 0.2 },
  badStarts: { ...PLAIN, dangers: { ...STORM, diskFull: 0, badStart: 0.3 } },
  badStartsWide: { ...PLAIN, dangers: { ...CALM, death: 0.02, badStart: 0.4, cancelJob: 0.1 }, gathers: true },
  slowStarts: { ...PLAIN, dangers: { ...CALM, death: 0.02, slowStart: 0.5, badStart: 0.1 }, asks: true },
  hangingStarts: { ...PLAIN, dangers: { ...CALM, death: 0.02, hangingStart: 0.3, cancelJob: 0.1 }, asks: true },
  hangingStartsWide: {
    ...PLAIN,
    dangers: { ...CALM, death: 0.02, slowStart: 0.2, hangingStart: 0.5 },
    gathers: true,
    asks: true,
  },
  broken: { ...PLAIN, dangers: { ...CALM, death: 0.05, cancelJob: 0.1 }, breaks: true },
  doomed: { ...PLAIN, dangers: { ...CALM, death: 0.5, oom: 1, badStart: 0.05 }, breaks: true },
  doomedDemands: { ...PLAIN, dangers: { ...CALM, death: 0.3, oom: 0.9 }, demands: true },
  slow: { ...PLAIN, dangers: { ...CALM, pause: 0.5 }, isLean: true },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;

export function isKindName(name: string): name is KindName {
  return name in KINDS;
}

/** A store that is too small is named; one that is large enough never is. */
export function mayFail(
  name: KindName,
  store: StoreSize,
  session: Session,
  { error, planned }: RunningJob,
  world: World,
): boolean {
  const { diskFull, damage, functionError } = KINDS[name].dangers;
  if (error === null) return false;
  if (error.startsWith("StoreError")) return store !== "large" && !fits(session);
  if (error === "SpillwayError: the disk is full") return diskFull > 0 && store !== "large";
  if (error === "SpillwayError: a flipped byte") return damage > 0;
  if (world.workers.starts.mayHaveFailed(error)) return true;
  if (error.includes("The program itself holds")) return (world.workers.memory?.mostOfProgram ?? 0) > 0.3;
  if (error.startsWith("OutOfMemoryError")) return isOutOfRetries(world, planned);
  return error === "FunctionError: boom" && functionError > 0;
}

/** A task of the job ran out of memory as often as it may, or of what no other worker has more of. */
function isOutOfRetries({ workers }: World, { spec }: PlannedJob): boolean {
  for (const [task, causes] of workers.shortages) {
    if (!task.startsWith(`${spec.id}/`)) continue;
    if (causes.length > MAX_OOM_RETRIES || causes.some((cause) => cause === "terminate" || cause === "heap"))
      return true;
  }
  return false;
}
