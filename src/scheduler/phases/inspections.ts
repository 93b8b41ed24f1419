/** Questions of the planner that wait for an idle worker. */
import type { Inspection, State } from "../state/index.ts";

export function addInspection({ phases }: State, inspection: Inspection): void {
  phases.inspections.push(inspection);
}

/** Its worker died, or the question gets more memory: it is asked again before the others. */
export function inspectAgain({ phases }: State, inspection: Inspection): void {
  phases.inspections.unshift(inspection);
}

export function nextInspection({ phases }: State): Inspection | undefined {
  return phases.inspections.shift();
}

/** Takes all questions, which will not be answered. */
export function takeInspections({ phases }: State): readonly Inspection[] {
  return phases.inspections.splice(0);
}
