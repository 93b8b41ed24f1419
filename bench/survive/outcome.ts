/** How a run ended, in the words of the table. */
import { differences, type Run } from "../harness/index.ts";
import type { Answer } from "../workload.ts";
import type { SurviveJob } from "./jobs.ts";

export type Ending = "answer" | "error" | "wrong answer" | "program killed" | "program failed" | "no end";

export interface Outcome {
  readonly ending: Ending;
  /** The job ended correctly: with its answer or, if it has none, with an error that reached the program. */
  readonly isRight: boolean;
  /** The error's class and first line, or how the program ended. */
  readonly detail: string;
  readonly seconds: number;
  /** Kills of the system's OOM killer. */
  readonly kills: number;
}

/** `answer`: what the run computed, if that is not in its report; null: unknown. */
export function outcomeOf(job: SurviveJob, run: Run, answer: Answer | null): Outcome {
  const base = { seconds: run.seconds, kills: run.box?.kills ?? 0 };
  const { report } = run;
  if (run.tookTooLong)
    return { ...base, ending: "no end", isRight: false, detail: `not done after ${job.timeoutSeconds} s` };
  if (report === null) {
    const ending = run.signal === null ? "program failed" : "program killed";
    return { ...base, ending, isRight: false, detail: run.failure ?? "" };
  }
  const { error, message } = report.answer;
  if (typeof error === "string") {
    const detail = typeof message === "string" && message !== "" ? `${error}: ${message}` : error;
    return { ...base, ending: "error", isRight: job.answer === null, detail };
  }
  const wrong = answer === null ? ["no answer"] : differences(job.answer ?? answer, answer);
  if (wrong.length > 0) return { ...base, ending: "wrong answer", isRight: false, detail: wrong.join("; ") };
  return { ...base, ending: "answer", isRight: true, detail: "" };
}
