/**
 * Everything that watches a running session: the event stream with its file and its observers, the dashboard, and the
 * file by which other programs of the user find the session. The scheduler never waits for any of them.
 */
import { hostname } from "node:os";
import { toWire } from "../errors/index.ts";
import { EventRecorder, Observer, type ObserverMessage, type ToObserver, withStats } from "../events/index.ts";
import { nodeMemory } from "../memory/index.ts";
import {
  EVENT_FORMAT,
  type JobNews,
  type Milliseconds,
  type Notice,
  type RecordedEvent,
  type StreamEvent,
  type ToProgram,
  type Wire,
  type WorkerId,
} from "../protocol/index.ts";
import { DashboardPort, USUAL_PORT } from "./dashboard-port.ts";
import type { SupervisorOptions } from "./options.ts";
import { removeAttachment, writeAttachment } from "./session-files.ts";

/** Each observer costs a little for every batch of events. */
const MOST_OBSERVERS = 16;

export class Watchers {
  readonly #options: SupervisorOptions;
  readonly #directory: string;
  readonly #recorder: EventRecorder;
  readonly #observers = new Set<Observer>();
  /** Null when the session has no dashboard. */
  readonly #dashboard: DashboardPort | null;

  /** `directory`: the session's, with the socket in it. */
  constructor(options: SupervisorOptions, directory: string) {
    this.#options = options;
    this.#directory = directory;
    this.#recorder = new EventRecorder(options.stateDirectory, options.eventFileLimit);
    this.#dashboard = dashboardOf(options, directory);
    this.tell(startedEvent(options));
  }

  get dashboardUrl(): string | null {
    return this.#dashboard?.url ?? null;
  }

  /** Processes of the dashboard; empty while nobody looks. */
  get pids(): readonly number[] {
    return this.#dashboard?.pids ?? [];
  }

  /** Resolves with a notice if the dashboard has no port, otherwise with null. */
  async open(): Promise<Notice | null> {
    const error = (await this.#dashboard?.open()) ?? null;
    return error === null ? null : { kind: "noDashboard", error };
  }

  /** Called once the socket is open, so that programs can find the session. A session works even if this fails. */
  announce(): void {
    const { stateDirectory, token } = this.#options;
    try {
      writeAttachment(stateDirectory, { directory: this.#directory, token, dashboard: this.dashboardUrl });
    } catch (error) {
      process.stderr.write(`${toWire(error).message}\n`);
    }
  }

  record(events: readonly RecordedEvent[]): void {
    this.#recorder.record(events);
  }

  /** Records an event with the present time. */
  tell(event: StreamEvent): void {
    this.#recorder.record([{ at: now(), ...event }]);
  }

  /** What the program is told of a job, with the job's figures. */
  withStats(news: JobNews, at: Milliseconds): ToProgram {
    return withStats(this.#recorder.state, news, at);
  }

  welcome(
    wire: Wire<ObserverMessage, ToObserver>,
    profile: (worker: WorkerId, seconds: number) => Promise<string>,
  ): boolean {
    if (this.#observers.size >= MOST_OBSERVERS) return false;
    const observer = new Observer(wire, this.#recorder, profile);
    this.#observers.add(observer);
    wire.onClose(() => this.#observers.delete(observer));
    return true;
  }

  /** The session is closing: it can no longer be found, and its watchers see the end. */
  stop(): void {
    this.#dashboard?.stop();
    removeAttachment(this.#options.stateDirectory);
  }

  async close(): Promise<void> {
    this.tell({ type: "sessionEnded" });
    await this.#recorder.close();
    for (const observer of this.#observers) observer.close();
    await this.#dashboard?.close();
  }
}

/** Time for events: the scheduler's clock, rounded to tenths of a millisecond. */
function now(): Milliseconds {
  return Math.round(performance.now() * 10) / 10;
}

function dashboardOf(options: SupervisorOptions, socketDirectory: string): DashboardPort | null {
  const { dashboard, session, token, dashboardToken, stateDirectory } = options;
  if (dashboard === false) return null;
  const port = dashboard === true ? USUAL_PORT : dashboard;
  return new DashboardPort({ port, session, token, dashboardToken, stateDirectory, socketDirectory });
}

/** The known facts at the start, without secrets: no token, no environment, no arguments. */
function startedEvent(options: SupervisorOptions): Extract<StreamEvent, { type: "sessionStarted" }> {
  const { session, parentPid, workers, capacity, workerMemory, targetMaxBlockSize, pool, memory, shown } = options;
  return {
    type: "sessionStarted",
    format: EVENT_FORMAT,
    session,
    epoch: performance.timeOrigin,
    host: hostname(),
    pid: process.pid,
    program: parentPid,
    node: process.version,
    workers,
    capacity,
    workerMemory,
    kernelThreads: pool.threads,
    maxBlockSize: targetMaxBlockSize,
    nodeMemory: nodeMemory(),
    thresholds: { ...memory.thresholds },
    nodeThreshold: memory.memoryMonitorRefreshMs === 0 ? null : memory.memoryUsageThreshold,
    settings: shown,
  };
}
