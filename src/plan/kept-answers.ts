/**
 * Keeps answers about plans with the plan's nodes. Nodes never change, and datasets derived from one another share
 * nodes. So the next call and the next dataset know what one call found out.
 */
import type { Plan } from "./plan.ts";

export class KeptAnswers<Answer> {
  readonly #answers = new WeakMap<Plan, Promise<Answer>>();

  /** Failures are not kept: a file that was missing may exist the next time. */
  of(plan: Plan, ask: () => Promise<Answer>): Promise<Answer> {
    const known = this.#answers.get(plan);
    if (known !== undefined) return known;
    const answer = ask();
    this.#answers.set(plan, answer);
    answer.catch(() => this.#answers.delete(plan));
    return answer;
  }
}
