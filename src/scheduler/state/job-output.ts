/** The edge from a job to the program. */
import type { JobState } from "./job-state.ts";
import type { Edge } from "./pieces.ts";

/** The job's last edge: to the program. */
export function outputOf(job: JobState): Edge {
  const edge = job.operators.at(-1)?.edges.consumers.at(-1);
  if (edge === undefined) throw new Error(`the job ${job.id} was not wired`);
  return edge;
}

/** The program has stopped reading, or has as much to read as it may: then the job should stand still. */
export function isPaused(job: JobState): boolean {
  const { spec } = outputOf(job).producer;
  return (job.output.credit <= 0 || job.output.readerIsFull) && (spec.kind === "slice" || spec.sink.kind === "blocks");
}
