/** What a rule is: it looks at a job, or at one of its operators, and says what is worth saying. */
import type { Finding } from "../protocol/index.ts";
import type { ExaminedJob, ExaminedOperator } from "./examined.ts";

export type JobRule = (job: ExaminedJob) => Finding | null;
export type OperatorRule = (operator: ExaminedOperator, job: ExaminedJob) => Finding | null;

/** "3.2 times", for example. */
export function times(factor: number): string {
  return `${factor < 10 ? factor.toFixed(1) : Math.round(factor)} times`;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

export function whole(amount: number): string {
  return Math.round(amount).toLocaleString("en");
}
