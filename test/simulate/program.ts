/** The simulated program: starts jobs, reads what they give, keeps it or not, cancels and forgets them. */
import type {
  ArenaRange,
  BlockSlice,
  JobId,
  JobStats,
  Operator,
  OperatorId,
  TaskOperator,
  ToProgram,
} from "../../src/protocol/index.ts";
import type { JobMessage } from "../../src/scheduler/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { PAYLOAD, type PlannedJob } from "./plans.ts";
import { delay, type Surroundings } from "./surroundings.ts";
import { otherWayOf } from "./ways.ts";

export interface RunningJob {
  readonly planned: PlannedJob;
  /** Operators that have taken the place of others. */
  readonly added: Operator[];
  readonly instead: Map<OperatorId, OperatorId>;
  readonly received: number[];
  /** The program keeps all it gets, instead of giving it back. */
  readonly kept: BlockSlice[] | null;
  outcome: "running" | "finished" | "failed" | "cancelled";
  error: string | null;
  readonly startedAt: number;
  endedAt: number | null;
  rows: number;
  stats: JobStats | null;
  wanted: number;
  got: number;
  /** Output blocks that the program has and has not given back or kept. */
  unread: number;
  /** The program forgets the job with so many blocks; those it has then, it neither gives back nor keeps. */
  readonly abandonedAfter: number | null;
  readonly forgotten: BlockSlice[];
}

export interface Consumption {
  readonly keeps?: boolean;
  readonly abandonedAfter?: number | null;
}

export class SimulatedProgram {
  readonly jobs = new Map<JobId, RunningJob>();
  readonly #world: Surroundings;
  readonly #answers = new Map<number, (message: ToProgram) => void>();
  #requests = 0;

  constructor(world: Surroundings) {
    this.#world = world;
  }

  /** For a job to end. */
  get isWaiting(): boolean {
    return [...this.jobs.values()].some(({ outcome }) => outcome === "running");
  }

  says(message: JobMessage): void {
    this.#world.tell({ type: "fromProgram", message });
  }

  putPayload(): void {
    let range: ArenaRange | null = null;
    this.#answers.set(-1, (answer) => {
      if (answer.type === "reserved") range = answer.range;
    });
    this.says({ type: "reserve", request: -1, bytes: 1 });
    if (range === null) throw new Error("no room for the payload");
    this.#world.arena.write(range, []);
    this.says({ type: "seal", request: -2, range, length: 1, rows: 0, checksum: 0 });
  }

  /** It is through with everything. */
  close(): void {
    this.says({ type: "release", blocks: [PAYLOAD] });
  }

  operatorOf(job: JobId, id: number): TaskOperator | null {
    const { planned, added = [] } = this.jobs.get(job) ?? {};
    const operator = [...(planned?.spec.operators ?? []), ...added].find((one) => one.id === id);
    return operator?.kind === "tasks" ? operator : null;
  }

  start(planned: PlannedJob, { keeps = false, abandonedAfter = null }: Consumption = {}): RunningJob {
    const job: RunningJob = {
      planned,
      added: [],
      instead: new Map(),
      received: [],
      kept: keeps ? [] : null,
      outcome: "running",
      error: null,
      startedAt: this.#world.agenda.now,
      endedAt: null,
      rows: 0,
      stats: null,
      wanted: 0,
      got: 0,
      unread: 0,
      abandonedAfter,
      forgotten: [],
    };
    this.jobs.set(planned.spec.id, job);
    this.says({ type: "start", job: planned.spec });
    this.want(job, this.#world.chance.between(1, 4));
    return job;
  }

  want(job: RunningJob, blocks: number): void {
    job.wanted += blocks;
    this.says({ type: "want", job: job.planned.spec.id, blocks });
  }

  cancel(job: RunningJob): void {
    if (job.outcome !== "running") return;
    job.outcome = "cancelled";
    this.says({ type: "cancel", job: job.planned.spec.id });
  }

  /** The end of the session, for a job that the program has forgotten. */
  giveUp(job: RunningJob): void {
    this.cancel(job);
    const blocks = job.forgotten.splice(0).map(({ block }) => block.id);
    if (blocks.length > 0) this.says({ type: "release", blocks });
  }

  /** What it has kept of a job's output goes. */
  letGo(job: RunningJob): void {
    const kept = job.kept?.splice(0) ?? [];
    if (kept.length > 0) this.says({ type: "release", blocks: kept.map(({ block }) => block.id) });
  }

  /** Asks for the memory of all processes. */
  askMemory(): void {
    const { agenda, questions } = this.#world;
    const request = this.#requests++;
    const askedAt = agenda.now;
    questions.isAsked(askedAt);
    this.#answers.set(request, (answer) => {
      if (answer.type !== "memory") throw new Error(`a question about memory was answered by ${answer.type}`);
      questions.isAnswered(askedAt, agenda.now);
    });
    this.says({ type: "memory", request });
  }

  /** The number of a question that somebody else asks in its name. */
  asked(answered: () => void): number {
    const request = this.#requests++;
    this.#answers.set(request, (answer) => {
      if (answer.type !== "roomMade") throw new Error(`the program's growth was answered by ${answer.type}`);
      answered();
    });
    return request;
  }

  rebalance(): void {
    this.says({ type: "rebalance", request: this.#requests++ });
  }

  /** Puts a block there and keeps it for a while. */
  keep(pages: number, forHowLong: number): void {
    const { agenda, arena } = this.#world;
    const request = this.#requests++;
    this.#answers.set(request, (answer) => {
      if (answer.type !== "reserved") return;
      const { range } = answer;
      arena.write(range, []);
      const seal = this.#requests++;
      this.#answers.set(seal, (sealed) => {
        if (sealed.type !== "sealed") throw new Error(`sealing was answered by ${sealed.type}`);
        agenda.later(forHowLong, () => this.says({ type: "release", blocks: [sealed.block.id] }));
      });
      const length = pages * PAGE;
      agenda.later(1, () => this.says({ type: "seal", request: seal, range, length, rows: 0, checksum: 0 }));
    });
    this.says({ type: "reserve", request, bytes: pages * PAGE });
  }

  receive(message: ToProgram): void {
    if ("request" in message) {
      const answer = this.#answers.get(message.request);
      this.#answers.delete(message.request);
      answer?.(message);
      return;
    }
    if (message.type === "collect") {
      // It refers to all that it keeps.
      this.#world.agenda.later(1, () => this.says({ type: "collected", took: 1 }));
      return;
    }
    if (message.type === "welcome" || message.type === "notice" || message.type === "event") return;
    const job = this.jobs.get(message.job);
    if (job === undefined) throw new Error(`a word about an unknown job ${message.job}`);
    if (message.type === "output") this.#read(job, message);
    else if (message.type === "otherWay") this.#planOtherWay(job, message.operator);
    else if (job.outcome !== "running") throw new Error(`${message.type} after the job was ${job.outcome}`);
    else if (message.type === "finished" || message.type === "failed") {
      job.outcome = message.type;
      job.stats = message.stats;
      job.endedAt = this.#world.agenda.now;
      if (message.type === "failed") job.error = `${message.error.name}: ${message.error.message}`;
      else job.rows = message.rows;
    }
  }

  #planOtherWay(job: RunningJob, id: OperatorId): void {
    const { agenda, chance } = this.#world;
    const { spec } = job.planned;
    const wide = this.operatorOf(spec.id, id);
    if (wide === null) throw new Error(`another way of ${id}, which has no tasks`);
    agenda.later(delay(chance), () => {
      const operators = otherWayOf(chance, wide, spec.preserveOrder, job.instead);
      const last = operators.at(-1);
      if (last !== undefined) job.instead.set(id, last.id);
      job.added.push(...operators);
      this.says({ type: "wayPlanned", job: spec.id, operator: id, operators });
    });
  }

  #read(job: RunningJob, { slice, range, copy }: Extract<ToProgram, { type: "output" }>): void {
    const { agenda, arena, chance, dangers } = this.#world;
    if (job.outcome !== "running") throw new Error(`output after the job was ${job.outcome}`);
    job.got += 1;
    if (job.got > job.wanted) throw new Error("more output than the program wanted");
    const source = arena.at(range);
    const rows = source.slice(slice.start, slice.end);
    if (rows.length !== slice.end - slice.start) throw new Error(`block ${slice.block.id} is not what it was`);
    job.received.push(...rows);
    job.unread += 1;
    job.kept?.push(slice);
    const isCopied = copy && job.kept === null;
    if (isCopied) agenda.later(1, () => this.says({ type: "release", blocks: [slice.block.id] }));
    if (job.abandonedAfter !== null && job.got > job.abandonedAfter) {
      if (!isCopied) job.forgotten.push(slice);
      return;
    }
    const pause = chance.happens(dangers.pause) ? 5_000 : delay(chance);
    agenda.later(pause, () => {
      job.unread -= 1;
      if (!isCopied) {
        if (arena.at(range) !== source) throw new Error("a block changed while the program held it");
        this.says({ type: job.kept === null ? "release" : "keep", blocks: [slice.block.id] });
      }
      if (job.outcome === "running") this.want(job, 1);
    });
  }
}
