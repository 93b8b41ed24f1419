/** The edge from a job to the program. */
import type { Edge, JobState } from "./state.ts";

/** The job's last edge: to the program. */
export function outputOf(job: JobState): Edge {
  const edge = job.operators.at(-1)?.consumers.at(-1);
  if (edge === undefined) throw new Error(`the job ${job.id} was not wired`);
  return edge;
}

/** The program has stopped reading, or has as much to read as it may: then the job should stand still. */
export function isPaused(job: JobState): boolean {
  const { spec } = outputOf(job).producer;
  return (job.credit <= 0 || job.readerIsFull) && (spec.kind === "slice" || spec.sink.kind === "blocks");
}
