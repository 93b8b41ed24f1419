/** The progress of jobs on stderr. */
import type { JobObserver } from "../job.ts";
import { Display } from "./display.ts";

export const silent: JobObserver = { progress() {}, ended() {} };

let display: Display | null = null;

/** All jobs of the program share one display, even across sessions. */
export function shownJob(): JobObserver {
  display ??= new Display(process.stderr, [process.stdout]);
  return display.job();
}
