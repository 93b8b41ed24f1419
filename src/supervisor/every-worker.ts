/**
 * Requests to all workers at once: call a function, return memory. A request waits until starting workers are
 * connected, asks every worker once, busy or not, and is answered when all have answered or died. Knows nothing about
 * the content of requests.
 */
import { toWire, type WireError, WorkerDiedError } from "../errors/index.ts";
import type { ProgramMessage, ToProgram, ToWorker, TrimReport, WorkerAnswer, WorkerId } from "../protocol/index.ts";
import { deathDetails, exitTypeOf, type WorkerEnd } from "../scheduler/index.ts";
import type { WorkerKind } from "./worker-pool.ts";

type Asked = Extract<ProgramMessage, { type: "call" | "trim" }>;

/** The part of the worker pool that this needs. */
export interface AskedPool {
  /** Workers that can be reached. */
  readonly connected: readonly { readonly worker: WorkerId; readonly kind: WorkerKind }[];
  send(worker: WorkerId, message: ToWorker): void;
}

/** The scheduler: whether all wanted workers have connected, except those that wait until a pause is over. */
interface Workforce {
  readonly isComplete: boolean;
}

/** Or how it ended before it had answered. */
type Answer = WorkerAnswer | TrimReport | WorkerEnd;

interface Question {
  readonly asked: Asked;
  /** In the order of asking; null: not answered yet. */
  readonly answers: Map<WorkerId, Answer | null>;
  /** Workers that connect from now on are not asked. */
  isWhole: boolean;
}

export class EveryWorker {
  readonly #questions = new Set<Question>();

  constructor(
    private readonly pool: AskedPool,
    private readonly workforce: Workforce,
    private readonly reply: (message: ToProgram) => void,
  ) {}

  ask(asked: Asked): void {
    this.#questions.add({ asked, answers: new Map(), isWhole: false });
    this.changed();
  }

  /** A worker has connected, or its restart is delayed. */
  changed(): void {
    for (const question of this.#questions) {
      if (!question.isWhole) this.#askThose(question);
      this.#answerIfWhole(question);
    }
  }

  answered(worker: WorkerId, request: number, answer: WorkerAnswer | TrimReport): void {
    for (const question of this.#questions) {
      if (question.asked.request !== request || question.answers.get(worker) !== null) continue;
      question.answers.set(worker, answer);
      this.#answerIfWhole(question);
    }
  }

  gone(worker: WorkerId, end: WorkerEnd): void {
    for (const question of this.#questions) {
      const { answers, isWhole } = question;
      if (end.cause === "asked" && (!isWhole || answers.get(worker) === null)) {
        // Its replacement is asked instead.
        answers.delete(worker);
        question.isWhole = false;
      } else if (answers.get(worker) === null) answers.set(worker, end);
    }
    this.changed();
  }

  /** Workers cannot be started. */
  unavailable(error: WireError): void {
    for (const question of this.#questions) {
      if (question.answers.size > 0) continue;
      this.#questions.delete(question);
      this.reply({ type: "refused", request: question.asked.request, error });
    }
  }

  #askThose(question: Question): void {
    const { asked, answers } = question;
    for (const { worker, kind } of this.pool.connected) {
      // The wide kernel runs no functions, but its memory can be trimmed.
      if (answers.has(worker) || (kind === "wide" && asked.type === "call")) continue;
      answers.set(worker, null);
      this.pool.send(worker, asked);
    }
    question.isWhole = this.workforce.isComplete && answers.size > 0;
  }

  #answerIfWhole(question: Question): void {
    const { asked, answers, isWhole } = question;
    const { request } = asked;
    if (!isWhole || [...answers.values()].includes(null)) return;
    this.#questions.delete(question);
    try {
      this.reply(
        asked.type === "call"
          ? { type: "called", request, answers: [...answers].flatMap(([worker, answer]) => called(worker, answer)) }
          : { type: "trimmed", request, workers: [...answers.values()].flatMap(trimmed) },
      );
    } catch (error) {
      // The answer is larger than a message can be.
      this.reply({ type: "refused", request, error: toWire(error) });
    }
  }
}

function called(worker: WorkerId, answer: Answer | null): WorkerAnswer[] {
  if (answer !== null && "cause" in answer) return [{ worker, value: null, error: toWire(diedUnder(worker, answer)) }];
  return answer !== null && "value" in answer ? [answer] : [];
}

function diedUnder(worker: WorkerId, end: WorkerEnd): WorkerDiedError {
  const { exitCode, signal, cause, log } = end;
  const how = signal === null ? `exited with code ${exitCode}` : `was ended by ${signal}`;
  const message = `run: worker ${worker} ${how} before it had answered.\n${deathDetails(end)}\nIts log: cat ${log}`;
  return new WorkerDiedError(message, "run", exitCode, signal, cause, exitTypeOf(end));
}

/** A worker that died has returned all its memory, and gives no report. */
function trimmed(answer: Answer | null): TrimReport[] {
  return answer !== null && "before" in answer ? [answer] : [];
}
