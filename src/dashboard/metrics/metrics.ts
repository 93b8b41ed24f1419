/**
 * The session's metrics for Prometheus, filled at each scrape from the model that the pages show. Operators are
 * labelled by name, because names recur while every job has a new number.
 */
import { Counter, Gauge, Registry } from "prom-client";
import type { Milliseconds } from "../../protocol/index.ts";
import { type SessionModel, titleOf } from "../model/index.ts";
import { totalsCard } from "../views/index.ts";
import { METRICS, type MetricName } from "./names.ts";

const SECOND: Milliseconds = 1_000;

export class SessionMetrics {
  readonly #registry = new Registry();
  readonly #metrics = new Map<MetricName, Gauge | Counter>();

  constructor(private readonly model: SessionModel) {
    for (const { name, help, labels } of METRICS) {
      const labelNames = [...labels];
      const Metric = name.endsWith("_total") ? Counter : Gauge;
      this.#metrics.set(name, new Metric({ name, help, labelNames, registers: [this.#registry] }));
    }
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    for (const metric of this.#metrics.values()) metric.reset();
    this.#session();
    this.#memory();
    this.#work();
    this.#operators();
    return this.#registry.metrics();
  }

  /** Sets a counter to its total: all metrics were reset before the scrape. */
  #set(name: MetricName, value: number, labels: Readonly<Record<string, string>> = {}): void {
    const metric = this.#metrics.get(name);
    if (metric instanceof Counter) metric.inc({ ...labels }, value);
    else metric?.set({ ...labels }, value);
  }

  #session(): void {
    const { session, jobs } = this.model.now;
    const { status, missed, byName } = this.model;
    if (session !== null) {
      const { session: name, host, node } = session;
      this.#set("spillway_session_info", 1, { session: name, host, node });
      this.#set("spillway_session_start_time_seconds", session.epoch / SECOND);
    }
    this.#set("spillway_session_running", status === "running" ? 1 : 0);
    this.#set("spillway_dashboard_missed_events_total", missed);
    this.#set("spillway_jobs_running", [...jobs.values()].filter(({ endedAt }) => endedAt === null).length);
    for (const [outcome, ended] of Object.entries(byName.outcomes)) {
      this.#set("spillway_jobs_ended_total", ended, { outcome });
    }
  }

  #memory(): void {
    const { kinds, program, supervisor, node, store, workerLimit, ...totals } = totalsCard(this.model);
    for (const [kind, bytes] of Object.entries(kinds)) this.#set("spillway_memory_bytes", bytes, { kind });
    this.#set("spillway_program_memory_bytes", program);
    this.#set("spillway_supervisor_memory_bytes", supervisor);
    if (workerLimit !== null) this.#set("spillway_worker_memory_limit_bytes", workerLimit);
    if (node !== null) {
      this.#set("spillway_node_memory_used_bytes", node.used);
      this.#set("spillway_node_memory_size_bytes", node.total);
    }
    this.#set("spillway_store_capacity_bytes", store.capacity);
    this.#set("spillway_store_memory_bytes", store.resident);
    this.#set("spillway_store_disk_bytes", store.onDisk);
    this.#set("spillway_spill_files_bytes", store.files);
    this.#set("spillway_blocks", store.blocks);
    this.#set("spillway_spilled_bytes_total", totals.spilledBytes);
    this.#set("spillway_restored_bytes_total", totals.restoredBytes);
    for (const { id, reading } of this.model.now.workers.values()) {
      const slot = this.model.lanes.of(id)?.name ?? String(id);
      if (reading !== null) this.#set("spillway_worker_memory_bytes", reading.process, { slot });
    }
  }

  #work(): void {
    const { tasks, memoryDeaths, otherDeaths } = totalsCard(this.model);
    this.#set("spillway_tasks_running", tasks.running);
    this.#set("spillway_tasks_waiting", tasks.waiting);
    this.#set("spillway_worker_deaths_total", memoryDeaths, { cause: "memory" });
    this.#set("spillway_worker_deaths_total", otherDeaths, { cause: "other" });
    const pressures = new Map([
      ["normal", 0],
      ["spilling", 0],
      ["paused", 0],
      ["terminating", 0],
    ]);
    for (const { reading } of this.model.now.workers.values()) {
      const pressure = reading?.pressure ?? "normal";
      pressures.set(pressure, (pressures.get(pressure) ?? 0) + 1);
    }
    for (const [pressure, workers] of pressures) this.#set("spillway_workers", workers, { pressure });
  }

  #operators(): void {
    for (const [operator, totals] of this.model.byName.all) {
      this.#set("spillway_tasks_done_total", totals.done, { operator });
      this.#set("spillway_tasks_failed_total", totals.failed, { operator });
      this.#set("spillway_task_retries_total", totals.retries, { operator });
      this.#set("spillway_oom_retries_total", totals.oomRetries, { operator });
      this.#set("spillway_rows_total", totals.rows, { operator });
      this.#set("spillway_output_bytes_total", totals.bytes, { operator });
      this.#set("spillway_task_seconds_total", totals.wall / SECOND, { operator });
      this.#set("spillway_task_cpu_seconds_total", totals.cpu / SECOND, { operator });
      for (const [policy, time] of totals.heldBack) {
        this.#set("spillway_held_back_seconds_total", time / SECOND, { operator, policy });
      }
    }
    const queued = new Map<string, { blocks: number; bytes: number }>();
    for (const { id, operators, endedAt } of this.model.now.jobs.values()) {
      if (endedAt !== null) continue;
      for (const { plan } of operators) {
        const { queuedBlocks, queuedBytes } = this.model.figuresOf(id, plan.id);
        const title = titleOf(plan);
        const had = queued.get(title) ?? { blocks: 0, bytes: 0 };
        queued.set(title, { blocks: had.blocks + queuedBlocks, bytes: had.bytes + queuedBytes });
      }
    }
    for (const [operator, { blocks, bytes }] of queued) {
      this.#set("spillway_queued_blocks", blocks, { operator });
      this.#set("spillway_queued_bytes", bytes, { operator });
    }
  }
}
