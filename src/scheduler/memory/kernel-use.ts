/** What the wide kernel reports about its memory and its disk while it has a task. */
import type { Bytes } from "../../protocol/index.ts";
import { note, type State, tellNotice, type WorkerState } from "../state/index.ts";

/** The user is told when the kernel first has this much on disk, and at each doubling. */
const TOLD_FROM: Bytes = 64 * 2 ** 20;

export function kernelHolds(state: State, worker: WorkerState, memory: Bytes, spilled: Bytes): void {
  worker.memory.kernelBytes = memory;
  const { task } = worker;
  if (task === null) return;
  const { job, spec } = task.operator;
  const { kernelSpilled } = job.memory;
  const before = Math.max(0, ...kernelSpilled.values());
  if (spilled <= (kernelSpilled.get(spec.id) ?? 0)) return;
  kernelSpilled.set(spec.id, spilled);
  note(state, { type: "kernelSpilled", job: job.id, operator: spec.id, bytes: spilled });
  const toTell = Math.max(TOLD_FROM, 2 ** Math.floor(Math.log2(Math.max(1, spilled))));
  if (spilled < toTell || before >= toTell) return;
  tellNotice(state, { kind: "kernelSpilled", operator: spec.name, bytes: spilled });
}
