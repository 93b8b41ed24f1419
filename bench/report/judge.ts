/** Verdicts from results: one per target, and one per peer that was run without a target. */
import type { BoxPeaks, EngineResult, MemoryPeaks, Role, WorkloadResult } from "../harness/index.ts";
import type { EngineName, Figure, Target } from "../workload.ts";
import { median } from "./median.ts";

export interface Verdict {
  readonly workload: string;
  readonly rows: number;
  /** What is compared: "seconds", "worker, private". */
  readonly figure: string;
  readonly unit: "s" | "ms" | "MB" | "kills";
  readonly ours: number | null;
  readonly peer: EngineName | null;
  readonly theirs: number | null;
  /** The peer's value divided by ours: above 1, we are faster. */
  readonly ratio: number | null;
  readonly target: string;
  /** Null: there is no target, or no result to judge. */
  readonly met: boolean | null;
  /** Why a value is missing. */
  readonly note: string;
}

type Shown = { readonly name: string; readonly unit: Verdict["unit"]; readonly value: number | null };

export function judge(result: WorkloadResult): Verdict[] {
  const { workload } = result;
  const ours = result.engines.find((engine) => engine.engine === "spillway");
  const targeted = new Set(workload.targets.map(peerOf));
  const verdicts = workload.targets.map((target) => verdictOn(target, result, ours));
  const others = result.engines.filter((engine) => engine.engine !== "spillway" && !targeted.has(engine.engine));
  return [
    ...verdicts.filter((verdict) => verdict.unit !== "MB"),
    ...others.map((peer) => comparison(result, ours, peer, "", null)),
    ...verdicts.filter((verdict) => verdict.unit === "MB"),
  ].filter((verdict) => verdict.ours !== null || verdict.theirs !== null || verdict.note !== "");
}

function peerOf(target: Target): EngineName | null {
  return target.kind === "faster" ? target.than : target.kind === "within" ? target.of : null;
}

function verdictOn(target: Target, result: WorkloadResult, ours: EngineResult | undefined): Verdict {
  if (target.kind === "below") {
    const shown = figure(target.figure, result, ours);
    const limit = shown.unit === "MB" ? target.limit / 1e6 : target.limit;
    return {
      ...blank(result),
      figure: shown.name,
      unit: shown.unit,
      ours: shown.value,
      target: `< ${limit} ${shown.unit}`,
      met: shown.value === null ? failed(ours) : shown.value < limit,
      note: noteOn(ours),
    };
  }
  const peer = result.engines.find((engine) => engine.engine === peerOf(target));
  return target.kind === "faster"
    ? comparison(result, ours, peer, target.times === 1 ? "not slower" : `≥ ${target.times}×`, target.times)
    : comparison(result, ours, peer, `within ${target.factor}`, 1 / target.factor);
}

/** `atLeast`: the required value of theirs / ours. */
function comparison(
  result: WorkloadResult,
  ours: EngineResult | undefined,
  peer: EngineResult | undefined,
  target: string,
  atLeast: number | null,
): Verdict {
  const own = ours === undefined ? null : medianSeconds(ours);
  const theirs = peer === undefined ? null : medianSeconds(peer);
  const ratio = own === null || theirs === null ? null : theirs / own;
  return {
    ...blank(result),
    figure: "time",
    unit: "s",
    ours: own,
    peer: peer?.engine ?? null,
    theirs,
    ratio,
    target,
    met: atLeast === null ? null : ratio === null ? failed(ours) : ratio >= atLeast,
    note: peer === undefined ? "" : [noteOn(ours), noteOn(peer)].filter((note) => note !== "").join("; "),
  };
}

function noteOn(engine: EngineResult | undefined): string {
  return engine === undefined || engine.failure === null ? "" : `${engine.engine}: ${engine.failure}`;
}

/** If our own run failed, the target is missed; if nothing was run, it is not judged. */
function failed(ours: EngineResult | undefined): false | null {
  return ours === undefined || ours.failure === null ? null : false;
}

function blank(result: WorkloadResult): Pick<Verdict, "workload" | "rows" | "peer" | "theirs" | "ratio"> {
  return { workload: result.workload.name, rows: result.workload.rows, peer: null, theirs: null, ratio: null };
}

function figure(name: Figure, result: WorkloadResult, ours: EngineResult | undefined): Shown {
  const seconds = ours === undefined ? null : medianSeconds(ours);
  switch (name) {
    case "seconds":
      return { name: "time", unit: "s", value: seconds };
    case "millisecondsPerTask": {
      const tasks = result.workload.tasks ?? 0;
      return {
        name: "time per task",
        unit: "ms",
        value: seconds === null || tasks === 0 ? null : (seconds * 1000) / tasks,
      };
    }
    case "workerPrivate":
      return { name: "worker, private", unit: "MB", value: peak(ours, "worker", "private") };
    case "workerResident":
      return { name: "worker, resident", unit: "MB", value: peak(ours, "worker", "resident") };
    case "supervisorResident":
      return { name: "supervisor, resident", unit: "MB", value: peak(ours, "supervisor", "resident") };
    case "programPrivate":
      return { name: "program, private", unit: "MB", value: peak(ours, "program", "private") };
    case "boxHeld":
      return { name: "box, held", unit: "MB", value: inBox(ours, (box) => box.held / 1e6) };
    case "boxCharged":
      return { name: "box, with page cache", unit: "MB", value: inBox(ours, (box) => box.charged / 1e6) };
    case "boxKills":
      return { name: "box, OOM kills", unit: "kills", value: inBox(ours, (box) => box.kills) };
  }
}

/** Memory is the maximum of all runs, not the median: a limit must hold every time. */
function peak(engine: EngineResult | undefined, role: Role, kind: "private" | "resident"): number | null {
  const values = (engine?.measurements ?? []).flatMap((measurement) => peaks(measurement.memory, role, kind));
  return values.length === 0 ? null : Math.max(...values);
}

function inBox(engine: EngineResult | undefined, of: (box: BoxPeaks) => number): number | null {
  const values = (engine?.measurements ?? []).flatMap(({ box }) => (box === null ? [] : [of(box)]));
  return values.length === 0 ? null : Math.max(...values);
}

function peaks(memory: MemoryPeaks, role: Role, kind: "private" | "resident"): number[] {
  return memory.processes.filter((process) => process.role === role).map((process) => process[kind] / 1e6);
}

export function medianSeconds(engine: EngineResult): number | null {
  return engine.failure !== null ? null : median(engine.measurements.map(({ seconds }) => seconds));
}
