/**
 * Totals of operators by name, for metrics. Metrics must only grow, but the state forgets old jobs and every job has
 * new operators. So operators with the same name share their totals.
 */
import { operatorOf, type SessionState } from "../../events/index.ts";
import type { JobId, Milliseconds, OperatorPlan, RecordedEvent } from "../../protocol/index.ts";
import { titleOf } from "./operator-title.ts";

type Of<Type extends RecordedEvent["type"]> = Extract<RecordedEvent, { type: Type }>;

interface NameTotals {
  done: number;
  failed: number;
  retries: number;
  oomRetries: number;
  rows: number;
  bytes: number;
  wall: Milliseconds;
  cpu: Milliseconds;
  /** Time by policy. */
  readonly heldBack: Map<string, Milliseconds>;
}

/** Later names count together: a program may make up names without end. */
const MOST_NAMES = 1_000;
const OTHERS = "(others)";

export class TotalsByName {
  readonly all = new Map<string, NameTotals>();
  readonly #byPlan = new WeakMap<OperatorPlan, NameTotals>();
  /** Ended jobs by outcome. */
  readonly outcomes = { finished: 0, failed: 0, cancelled: 0 };

  /** `state` is the state before the event. */
  count(event: RecordedEvent, state: SessionState): void {
    switch (event.type) {
      case "taskDone":
        this.#done(this.#ofTask(event.task, state), event);
        return;
      case "taskFailed":
        this.#ofTask(event.task, state).failed += 1;
        return;
      case "retry":
        this.#ofTask(event.task, state).retries += 1;
        return;
      case "oomRetry":
        this.#ofTask(event.task, state).oomRetries += 1;
        return;
      case "heldBack":
        this.#hold(event.job, event.operator, event.at, state);
        return;
      case "job":
        if (event.to === "gone") this.#jobOver(event, state);
        return;
    }
  }

  /** After events were lost, raises the totals to what the state has counted: the true totals are at least that. */
  atLeast({ jobs }: SessionState): void {
    const counted = new TotalsByName();
    for (const { operators, outcome, endedAt } of jobs.values()) {
      if (outcome !== null && endedAt !== null) counted.outcomes[outcome] += 1;
      for (const {
        plan,
        tasksDone,
        failed,
        retries,
        oomRetries,
        rowsOut,
        bytesOut,
        wall,
        cpu,
        heldBack,
      } of operators) {
        const totals = counted.#of(titleOf(plan));
        totals.failed += failed;
        totals.retries += retries;
        totals.oomRetries += oomRetries;
        this.#add(totals, tasksDone, { rowsOut, bytesOut, wall, cpu });
        for (const [policy, time] of Object.entries(heldBack)) addTo(totals.heldBack, policy, time);
      }
    }
    for (const [name, totals] of counted.all) raise(this.#of(name), totals);
    for (const outcome of ["finished", "failed", "cancelled"] as const) {
      this.outcomes[outcome] = Math.max(this.outcomes[outcome], counted.outcomes[outcome]);
    }
  }

  #done(totals: NameTotals, event: Of<"taskDone">): void {
    this.#add(totals, 1, event);
  }

  #add(
    totals: NameTotals,
    tasks: number,
    { rowsOut, bytesOut, wall, cpu }: Pick<Of<"taskDone">, "rowsOut" | "bytesOut" | "wall" | "cpu">,
  ): void {
    totals.done += tasks;
    totals.rows += rowsOut;
    totals.bytes += bytesOut;
    totals.wall += wall;
    totals.cpu += cpu;
  }

  #jobOver({ job: id, at }: Of<"job">, state: SessionState): void {
    const job = state.jobs.get(id);
    if (job === undefined) return;
    this.outcomes[job.outcome ?? "cancelled"] += 1;
    for (const { plan } of job.operators) this.#hold(id, plan.id, at, state);
  }

  #hold(job: JobId, operator: number, at: Milliseconds, state: SessionState): void {
    const totals = operatorOf(state, job, operator);
    if (totals === undefined || totals.heldBy === null) return;
    addTo(this.#ofPlan(totals.plan).heldBack, totals.heldBy, at - totals.heldSince);
  }

  #ofTask(id: Of<"taskDone">["task"], state: SessionState): NameTotals {
    const task = state.tasks.get(id);
    const totals = task === undefined ? undefined : operatorOf(state, task.job, task.operator);
    return totals === undefined ? this.#of(OTHERS) : this.#ofPlan(totals.plan);
  }

  #ofPlan(plan: OperatorPlan): NameTotals {
    let totals = this.#byPlan.get(plan);
    if (totals === undefined) {
      totals = this.#of(titleOf(plan));
      this.#byPlan.set(plan, totals);
    }
    return totals;
  }

  #of(name: string): NameTotals {
    const known = this.all.get(name);
    if (known !== undefined) return known;
    if (this.all.size >= MOST_NAMES && name !== OTHERS) return this.#of(OTHERS);
    const totals: NameTotals = {
      ...{ done: 0, failed: 0, retries: 0, oomRetries: 0, rows: 0, bytes: 0, wall: 0, cpu: 0 },
      heldBack: new Map(),
    };
    this.all.set(name, totals);
    return totals;
  }
}

function addTo(times: Map<string, Milliseconds>, name: string, time: Milliseconds): void {
  times.set(name, (times.get(name) ?? 0) + time);
}

function raise(totals: NameTotals, least: NameTotals): void {
  for (const key of ["done", "failed", "retries", "oomRetries", "rows", "bytes", "wall", "cpu"] as const) {
    totals[key] = Math.max(totals[key], least[key]);
  }
  for (const [policy, time] of least.heldBack) {
    totals.heldBack.set(policy, Math.max(totals.heldBack.get(policy) ?? 0, time));
  }
}
