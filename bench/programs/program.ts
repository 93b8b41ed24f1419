/**
 * The frame of our programs: starts a session, does the work once on a thousand rows so that every worker is running
 * and has its code, then does the work with the clock running, and prints the report. The peers' frame
 * (peers/harness.py) does the same.
 */
import { type Session, session } from "spillway";
import type { Answer, Assignment, Job } from "../workload.ts";
import { report } from "./program-report.ts";

export type Work = (session: Session, job: Job) => Promise<Answer>;

export async function timed(work: Work): Promise<void> {
  const assignment: Assignment = JSON.parse(process.argv.at(-1) ?? "{}");
  const begin = performance.now();
  const engine = session({ workers: assignment.cores, progress: false });
  try {
    await work(engine, assignment.warmUp);
    const warm = performance.now();
    const answer = await work(engine, assignment.job);
    report({ startup: (warm - begin) / 1000, seconds: (performance.now() - warm) / 1000, answer });
  } finally {
    await engine.close();
  }
}
