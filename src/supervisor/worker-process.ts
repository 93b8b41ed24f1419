/** Starts a worker process: its log, its mark, its OOM score. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import type { Bytes, WorkerId } from "../protocol/index.ts";
import { MARK, markOf } from "./process-tree.ts";
import { ProcessLog } from "./worker-log.ts";

export interface StartOptions {
  /**
   * The command line of worker `id`, after the Node executable; `memory`: its limit, if it differs from the session's.
   */
  readonly commandLine: (id: WorkerId, memory: Bytes | null) => readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly logDirectory: string;
  /** Shown when the worker connects. Sent on stdin, because everybody can read a command line. */
  readonly token: string;
  /** The session's name, which marks everything that its workers start. */
  readonly session: string;
}

/** Linux's OOM killer should pick a process that can be replaced, instead of the program. */
const OOM_SCORE = "1000";

interface StartedWorker {
  readonly child: ChildProcess;
  /** Null: the log cannot be opened. */
  readonly log: ProcessLog | null;
}

export function startWorker(options: StartOptions, id: WorkerId, memory: Bytes | null): StartedWorker {
  const log = ProcessLog.open(options.logDirectory, id);
  const output = log?.fd ?? "ignore";
  const child = spawn(process.execPath, options.commandLine(id, memory), {
    stdio: ["pipe", output, output],
    env: { ...options.env, [MARK]: markOf(options.session, id) },
    // A session and group of its own, so that its children can be found.
    detached: true,
  });
  // The process may have ended before it has read the token; its exit is reported.
  child.stdin?.on("error", () => {});
  child.stdin?.end(options.token);
  if (child.pid !== undefined) preferForOomKiller(child.pid);
  return { child, log };
}

export function preferForOomKiller(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, OOM_SCORE);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // No /proc (macOS), or the process has already ended.
    if (code === "ENOENT" || code === "ESRCH") return;
    // A container may have a read-only /proc; the worker works without it.
    process.stderr.write(`the OOM killer cannot be told to prefer the process ${pid}: ${message}\n`);
  }
}
