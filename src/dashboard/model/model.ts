/**
 * Everything that the dashboard knows of a session: the state that every reader of events has, and the history before
 * it. Events from the event file and from the running session arrive in order and are handled alike.
 */

import { isMemoryReason } from "../../errors/index.ts";
import {
  apply,
  emptyState,
  Lanes,
  operatorOf,
  type SessionState,
  type TaskSpan,
  TaskSpans,
  type TaskView,
} from "../../events/index.ts";
import type { BlockId, Bytes, JobId, Milliseconds, RecordedEvent, TaskId } from "../../protocol/index.ts";
import type { TaskCard } from "../api.ts";
import { TotalsByName } from "./by-name.ts";
import { DiskLane } from "./disk-lane.ts";
import { Flow } from "./flow.ts";
import { OperatorFigures } from "./operator-figures.ts";
import { titleOf } from "./operator-title.ts";
import { recordDeaths, recordMemory, recordNode, SessionSeries } from "./session-series.ts";
import { shownJobs } from "./shown-jobs.ts";
import { Spans } from "./spans.ts";

interface OperatorName {
  readonly key: string;
  readonly name: string;
}

/** With fewer operators than this, those of jobs that are not shown may stay. */
const FEW_OPERATORS = 256;
/** The newest ended jobs, whose operators keep all their tasks: up to 100 KB each. */
const KEPT_WHOLE = 10;
/** The most operators with a colour of their own in the task stream. */
const MOST_COLOURS = 50_000;

/** After these, the numbers of deaths and retries are recorded. */
const COUNTED: ReadonlySet<RecordedEvent["type"]> = new Set(["memory", "workerGone", "oomRetry"]);

type Of<Type extends RecordedEvent["type"]> = Extract<RecordedEvent, { type: Type }>;

export class SessionModel {
  /** The state after all events taken so far. */
  state: SessionState = emptyState();
  status: "running" | "ended" | "killed" = "running";
  #present: SessionState | null = null;
  /** Lost events, and lines of the file that could not be read. */
  missed = 0;
  /** Counts the changes. While it stands still, pages need nothing new. */
  changes = 0;
  readonly lanes = new Lanes();
  readonly spans = new Spans();
  readonly deaths = { memoryDeaths: 0, otherDeaths: 0, oomRetries: 0 };
  readonly byName = new TotalsByName();
  readonly flow = new Flow();
  readonly series = new SessionSeries();
  readonly operators = new Map<string, OperatorFigures>();
  /** Operators by the number that spans name them with. */
  readonly colours: OperatorName[] = [];
  readonly #colourOf = new Map<string, number>();
  readonly disk = new DiskLane(this.lanes, this.spans);
  readonly #taskSpans = new TaskSpans(this.lanes, (span) => this.#addSpan(span));
  /** The newest ended jobs, oldest first. */
  readonly #newest: JobId[] = [];
  /** With more operators than this, those of jobs that are not shown are forgotten. */
  #mostOperators = FEW_OPERATORS;

  /** Milliseconds since the session's epoch: now, or at the session's end. */
  get time(): Milliseconds {
    const { at, session } = this.now;
    return this.status === "running" && session !== null ? Math.max(at, Date.now() - session.epoch) : at;
  }

  /** The session's present, even while its past is still being read. */
  get now(): SessionState {
    return this.#present ?? this.state;
  }

  /** No more events will arrive. */
  end(): void {
    this.status = this.state.hasEnded ? "ended" : "killed";
    this.changes += 1;
    const { memory, node, store, deaths, operators } = this.series;
    for (const series of [memory, node, store, deaths, operators, this.flow.series]) series.finish();
  }

  /** Announces that the events up to `present` follow. */
  begin(present: SessionState): void {
    this.#present = present;
    this.state = emptyState();
    this.changes += 1;
  }

  /** Replaces the state by a snapshot; the history stays. */
  restart(state: SessionState, missed: number): void {
    this.#present = null;
    this.state = state;
    this.missed += missed;
    this.changes += 1;
    this.#taskSpans.goOnFrom(state);
    for (const { curves } of this.operators.values())
      curves.keepRunning((task) => state.tasks.get(task)?.worker != null);
    this.#countBlocks();
    this.#countDeaths();
    this.byName.atLeast(state);
  }

  take(event: RecordedEvent): void {
    this.changes += 1;
    this.byName.count(event, this.state);
    this.#taskSpans.before(event, this.state);
    this.#before(event);
    apply(this.state, event);
    if (COUNTED.has(event.type)) recordDeaths(this, event.at);
    if (event.type === "memory") recordMemory(this, event);
    else if (event.type === "node") recordNode(this, event);
  }

  colourOf(job: JobId, operator: number): number {
    const key = `${job}/${operator}`;
    const known = this.#colourOf.get(key);
    if (known !== undefined) return known;
    if (this.colours.length >= MOST_COLOURS) return MOST_COLOURS - 1;
    this.colours.push({ key, name: this.nameOf(job, operator) });
    this.#colourOf.set(key, this.colours.length - 1);
    return this.colours.length - 1;
  }

  nameOf(job: JobId, operator: number): string {
    const totals = operatorOf(this.state, job, operator);
    return totals === undefined ? `${job}/${operator}` : titleOf(totals.plan);
  }

  figuresOf(job: JobId, operator: number): OperatorFigures {
    const key = `${job}/${operator}`;
    let figures = this.operators.get(key);
    if (figures === undefined) {
      figures = new OperatorFigures();
      this.operators.set(key, figures);
      this.#forgetOperators();
    }
    return figures;
  }

  attemptsOf(task: TaskId): number {
    return this.#taskSpans.attemptOf(task);
  }

  /** How a run of a task is named. */
  runOf({ id, index }: TaskView): string {
    const attempts = this.attemptsOf(id);
    return attempts === 1 ? `task ${index}` : `task ${index}, attempt ${attempts}`;
  }

  /** Must see the event before it is applied: the state still has a task that the event ends. */
  #before(event: RecordedEvent): void {
    switch (event.type) {
      case "taskProgress":
        this.#taskProgress(event);
        return;
      case "taskDone":
        this.#taskDone(event);
        return;
      case "oomRetry":
        this.deaths.oomRetries += 1;
        return;
      case "blockMade":
        this.#blockMade(event);
        return;
      case "block":
        this.#blockMoves(event);
        return;
      case "blockDelivered":
        this.#blockTaken(event.block);
        this.#delivered(event.at);
        return;
      case "blockFreed":
        this.#blockFreed(event.block);
        return;
      case "workerGone":
        this.#workerDied(event);
        return;
      case "job":
        if (event.to === "gone") this.#jobOver(event.job);
        return;
    }
  }

  #jobOver(job: JobId): void {
    this.#newest.push(job);
    const old = this.#newest.length > KEPT_WHOLE ? this.#newest.shift() : undefined;
    if (old === undefined) return;
    for (const { plan } of this.state.jobs.get(old)?.operators ?? []) {
      this.operators.get(`${old}/${plan.id}`)?.shrink();
    }
  }

  #addSpan({ task, job, operator, lane, attempt, from: start, to: end, outcome }: TaskSpan): void {
    this.operators.get(`${job}/${operator}`)?.curves.end(task);
    const isBad = outcome === "killed" || outcome === "failed";
    const kind = isBad ? outcome : attempt > 1 ? "retried" : "task";
    this.spans.add({ start, end, lane: lane.id, operator: this.colourOf(job, operator), kind });
  }

  #taskProgress({ tasks, at }: Of<"taskProgress">): void {
    for (const { task: id, rowsOut, bytesOut } of tasks) {
      const task = this.state.tasks.get(id);
      if (task !== undefined) this.#flows(task, rowsOut, bytesOut, at);
    }
  }

  /** Adds what the task made since its last report. A task that runs again counts again. */
  #flows({ job, operator, soFar }: TaskView, rowsOut: number, bytesOut: Bytes, at: Milliseconds): void {
    const rows = Math.max(0, rowsOut - (soFar?.rowsOut ?? 0));
    const bytes = Math.max(0, bytesOut - (soFar?.bytesOut ?? 0));
    this.flow.add(at, { rows, bytes });
    this.figuresOf(job, operator).made(at, rows, bytes);
  }

  #taskDone(event: Of<"taskDone">): void {
    const { at, rowsOut: rows, bytesOut: bytes } = event;
    const task = this.state.tasks.get(event.task);
    if (task === undefined) return;
    const figures = this.figuresOf(task.job, task.operator);
    this.#flows(task, rows, bytes, at);
    const isLong = figures.longest.takes(event.wall);
    const isFull = figures.fullest.takes(event.peakMemory);
    if (!isLong && !isFull) return;
    const { id, index, worker, startedAt, bytesIn } = task;
    const { rowsIn, peakMemory } = event;
    const attempts = this.attemptsOf(id);
    const card: TaskCard = {
      id,
      index,
      worker,
      phase: "done",
      startedAt,
      endedAt: at,
      bytesIn,
      rowsIn,
      rowsOut: rows,
      bytesOut: bytes,
      memory: null,
      peakMemory,
      attempts,
    };
    if (isLong) figures.longest.add(event.wall, card);
    if (isFull) figures.fullest.add(peakMemory, card);
  }

  #blockMade({ task, bytes }: Of<"blockMade">): void {
    const maker = task === null ? undefined : this.state.tasks.get(task);
    if (maker !== undefined) this.figuresOf(maker.job, maker.operator).blockMade(bytes);
  }

  #blockMoves({ block: id, to, at }: Of<"block">): void {
    const block = this.state.blocks.get(id);
    if (block === undefined) return;
    const { state: from, bytes, job, operator } = block;
    this.disk.moved(from, to, at);
    if (from === "spilling" && to === "spilled") this.flow.add(at, { spilled: bytes });
    else if (from === "restoring" && to === "resident") this.flow.add(at, { restored: bytes });
    if (job !== null && operator !== null) this.figuresOf(job, operator).blockMoved(from, to);
  }

  #blockTaken(id: BlockId): void {
    const block = this.state.blocks.get(id);
    if (block === undefined || block.isDelivered || block.job === null || block.operator === null) return;
    this.figuresOf(block.job, block.operator).blockTaken(block.bytes);
  }

  #blockFreed(id: BlockId): void {
    const block = this.state.blocks.get(id);
    if (block === undefined || block.job === null || block.operator === null) return;
    this.#blockTaken(id);
    if (block.state === "spilled") this.figuresOf(block.job, block.operator).spilledBlocks -= 1;
  }

  #delivered(at: Milliseconds): void {
    const lane = this.lanes.single("program").id;
    this.spans.add({ start: at, end: at, lane, operator: -1, kind: "transfer" });
  }

  #countBlocks(): void {
    for (const figures of this.operators.values()) {
      figures.queuedBlocks = 0;
      figures.queuedBytes = 0;
      figures.spilledBlocks = 0;
    }
    this.disk.restart();
    for (const { job, operator, bytes, isDelivered, state } of this.state.blocks.values()) {
      this.disk.moved("resident", state, this.state.at);
      if (job === null || operator === null) continue;
      const figures = this.figuresOf(job, operator);
      if (!isDelivered) figures.blockMade(bytes);
      if (state === "spilled") figures.spilledBlocks += 1;
    }
  }

  #countDeaths(): void {
    Object.assign(this.deaths, { memoryDeaths: 0, otherDeaths: 0, oomRetries: 0 });
    for (const event of this.state.happened) {
      if (event.type === "oomRetry") this.deaths.oomRetries += 1;
      else if (event.type === "workerGone") this.#workerDied(event);
    }
  }

  #workerDied({ reason }: Of<"workerGone">): void {
    if (reason === "asked") return;
    if (isMemoryReason(reason)) this.deaths.memoryDeaths += 1;
    else this.deaths.otherDeaths += 1;
  }

  #forgetOperators(): void {
    if (this.operators.size <= this.#mostOperators) return;
    const jobs = new Set<string>(shownJobs(this.state.jobs.values()).map(({ id }) => id));
    for (const key of this.operators.keys()) {
      if (!jobs.has(key.slice(0, key.indexOf("/")))) this.operators.delete(key);
    }
    this.#mostOperators = Math.max(FEW_OPERATORS, 2 * this.operators.size);
  }
}
