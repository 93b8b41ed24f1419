/** Every metric with its help text and labels. Metrics whose names end in `_total` only grow. */
interface MetricDescription {
  readonly name: `spillway_${string}`;
  readonly help: string;
  readonly labels: readonly string[];
}

const BY_OPERATOR = ["operator"] as const;

export const METRICS = [
  { name: "spillway_session_info", help: "1, with the session's name", labels: ["session", "host", "node"] },
  { name: "spillway_session_start_time_seconds", help: "When the session started, since 1970", labels: [] },
  { name: "spillway_session_running", help: "1 while the session runs, 0 after its end", labels: [] },
  { name: "spillway_dashboard_missed_events_total", help: "Events that did not reach the dashboard", labels: [] },
  { name: "spillway_jobs_running", help: "Jobs under way", labels: [] },
  { name: "spillway_jobs_ended_total", help: "Jobs that have ended, by outcome", labels: ["outcome"] },
  {
    name: "spillway_memory_bytes",
    help: "Memory of all workers by kind; managed + unmanaged + recent = process, and spilled is on disk",
    labels: ["kind"],
  },
  { name: "spillway_worker_memory_bytes", help: "Process memory of the worker in a slot", labels: ["slot"] },
  { name: "spillway_worker_memory_limit_bytes", help: "Memory limit of one worker", labels: [] },
  { name: "spillway_program_memory_bytes", help: "Private memory of the program", labels: [] },
  { name: "spillway_supervisor_memory_bytes", help: "Private memory of the supervisor", labels: [] },
  { name: "spillway_node_memory_used_bytes", help: "Memory in use on the machine, or in its container", labels: [] },
  { name: "spillway_node_memory_size_bytes", help: "Memory of the machine, or of its container", labels: [] },
  { name: "spillway_store_capacity_bytes", help: "Capacity of the store", labels: [] },
  { name: "spillway_store_memory_bytes", help: "Blocks in memory", labels: [] },
  { name: "spillway_store_disk_bytes", help: "Blocks on disk, before compression", labels: [] },
  { name: "spillway_spill_files_bytes", help: "Size of the spill files", labels: [] },
  { name: "spillway_blocks", help: "Blocks in memory and on disk", labels: [] },
  { name: "spillway_spilled_bytes_total", help: "Bytes of blocks written to disk", labels: [] },
  { name: "spillway_restored_bytes_total", help: "Bytes of blocks read back from disk", labels: [] },
  { name: "spillway_workers", help: "Worker processes by the step of the memory ladder", labels: ["pressure"] },
  { name: "spillway_worker_deaths_total", help: "Workers that ended unasked, by cause", labels: ["cause"] },
  { name: "spillway_tasks_running", help: "Tasks that a worker has", labels: [] },
  { name: "spillway_tasks_waiting", help: "Tasks that have no worker yet", labels: [] },
  { name: "spillway_tasks_done_total", help: "Tasks done", labels: BY_OPERATOR },
  { name: "spillway_tasks_failed_total", help: "Tasks failed", labels: BY_OPERATOR },
  { name: "spillway_task_retries_total", help: "Tasks run again after their worker died", labels: BY_OPERATOR },
  { name: "spillway_oom_retries_total", help: "Tasks run again after they ran out of memory", labels: BY_OPERATOR },
  { name: "spillway_rows_total", help: "Rows made", labels: BY_OPERATOR },
  { name: "spillway_output_bytes_total", help: "Bytes made", labels: BY_OPERATOR },
  { name: "spillway_task_seconds_total", help: "Time of tasks by the clock", labels: BY_OPERATOR },
  { name: "spillway_task_cpu_seconds_total", help: "CPU time of tasks", labels: BY_OPERATOR },
  {
    name: "spillway_held_back_seconds_total",
    help: "Time for which a backpressure policy held an operator back",
    labels: ["operator", "policy"],
  },
  { name: "spillway_queued_blocks", help: "Blocks that wait to be read", labels: BY_OPERATOR },
  { name: "spillway_queued_bytes", help: "Bytes of blocks that wait to be read", labels: BY_OPERATOR },
] as const satisfies readonly MetricDescription[];

export type MetricName = (typeof METRICS)[number]["name"];
