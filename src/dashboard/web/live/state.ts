/**
 * What the server has told of the session: the newest card of each key. Its size is bounded however long a page stays
 * open: series get coarser as they grow, and only the newest lines are kept.
 */
import type {
  Happened,
  JobCard,
  OperatorCard,
  OperatorNow,
  Patch,
  SessionCard,
  Snapshot,
  TotalsCard,
  WorkerCard,
} from "../../api.ts";
import { isSeries, SeriesBuffer } from "./series-buffer.ts";

export type Topic = "session" | "totals" | "workers" | "jobs" | "operators" | "series" | "happened";

const HAPPENED_KEPT = 2000;

// The key decides the card's type: the server and the pages come from the same build.
const isSession = (key: string, _card: unknown): _card is SessionCard => key === "session";
const isTotals = (key: string, _card: unknown): _card is TotalsCard => key === "totals";
const isWorker = (key: string, _card: unknown): _card is WorkerCard => key.startsWith("worker/");
const isJob = (key: string, _card: unknown): _card is JobCard => key.startsWith("job/");
const isPlan = (key: string, _card: unknown): _card is OperatorCard["plan"] => key.startsWith("plan/");
const isOperator = (key: string, _card: unknown): _card is OperatorNow => key.startsWith("operator/");
const isHappened = (key: string, _lines: unknown): _lines is readonly Happened[] => key === "happened";

export class LiveState {
  session: SessionCard | null = null;
  totals: TotalsCard | null = null;
  readonly workers = new Map<number, WorkerCard>();
  readonly jobs = new Map<string, JobCard>();
  /** Cards by `<job>/<operator>`. */
  readonly operators = new Map<string, OperatorCard>();
  readonly #plans = new Map<string, OperatorCard["plan"]>();
  readonly series = new Map<string, SeriesBuffer>();
  happened: readonly Happened[] = [];
  happenedDropped = 0;

  replace(snapshot: Snapshot): void {
    this.session = null;
    this.totals = null;
    this.happened = [];
    this.happenedDropped = 0;
    for (const map of [this.workers, this.jobs, this.operators, this.#plans, this.series]) map.clear();
    for (const [key, card] of Object.entries(snapshot.entries)) this.#set(key, card);
  }

  /** Returns the topics that have changed. */
  apply(patch: Patch): Set<Topic> {
    const changed = new Set<Topic>();
    for (const [key, card] of Object.entries(patch.set ?? {})) changed.add(this.#set(key, card));
    for (const key of patch.remove ?? []) changed.add(this.#remove(key));
    for (const [key, more] of Object.entries(patch.append ?? {})) changed.add(this.#append(key, more));
    return changed;
  }

  #set(key: string, card: unknown): Topic {
    if (isSession(key, card)) {
      this.session = card;
      return "session";
    }
    if (isTotals(key, card)) {
      this.totals = card;
      return "totals";
    }
    if (isWorker(key, card)) {
      this.workers.set(card.id, card);
      return "workers";
    }
    if (isJob(key, card)) {
      this.jobs.set(card.id, card);
      return "jobs";
    }
    if (isPlan(key, card)) {
      this.#plans.set(key.slice("plan/".length), card);
      return "operators";
    }
    if (isOperator(key, card)) {
      const name = `${card.job}/${card.id}`;
      const plan = this.#plans.get(name);
      if (plan === undefined) throw new Error(`The operator ${name} was sent before its plan.`);
      this.operators.set(name, { ...card, plan });
      return "operators";
    }
    if (isHappened(key, card)) {
      this.happened = [];
      return this.#append(key, card);
    }
    if (isSeries(key, card)) this.series.set(key.slice("series/".length), new SeriesBuffer(card));
    return "series";
  }

  #remove(key: string): Topic {
    const [kind = "", ...rest] = key.split("/");
    const name = rest.join("/");
    if (kind === "worker") this.workers.delete(Number(name));
    if (kind === "job") this.jobs.delete(name);
    if (kind === "plan") this.#plans.delete(name);
    if (kind === "operator") this.operators.delete(name);
    if (kind === "series") this.series.delete(name);
    return kind === "worker"
      ? "workers"
      : kind === "job"
        ? "jobs"
        : kind === "operator" || kind === "plan"
          ? "operators"
          : "series";
  }

  #append(key: string, more: unknown): Topic {
    if (isHappened(key, more)) {
      const all = [...this.happened, ...more];
      this.happenedDropped += Math.max(0, all.length - HAPPENED_KEPT);
      this.happened = all.slice(-HAPPENED_KEPT);
      return "happened";
    }
    const name = key.slice("series/".length);
    const buffer = this.series.get(name);
    if (isSeries(key, more)) {
      if (buffer === undefined) this.series.set(name, new SeriesBuffer(more));
      else buffer.append(more);
    }
    return "series";
  }
}
