/** The start of a worker's process: its log, its mark, and what the system is to know of it. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import type { Bytes, WorkerId } from "../protocol/index.ts";
import { MARK, markOf } from "./process-tree.ts";
import { ProcessLog } from "./worker-log.ts";

export interface StartOptions {
  /** The command line of worker `id`, after the Node executable; `memory`: its limit, where it is not the session's. */
  readonly commandLine: (id: WorkerId, memory: Bytes | null) => readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly logDirectory: string;
  /** What it shows when it connects. It comes on its standard input: everybody can read a command line. */
  readonly token: string;
  /** The session's name, by which what its workers have started is known. */
  readonly session: string;
}

/** Under memory pressure the kernel shall end a worker, which can be replaced, and not the program. */
const OOM_SCORE = "1000";

interface StartedWorker {
  readonly child: ChildProcess;
  /** Null where it cannot be had. */
  readonly log: ProcessLog | null;
}

export function startWorker(options: StartOptions, id: WorkerId, memory: Bytes | null): StartedWorker {
  const log = ProcessLog.open(options.logDirectory, id);
  const output = log?.fd ?? "ignore";
  const child = spawn(process.execPath, options.commandLine(id, memory), {
    stdio: ["pipe", output, output],
    env: { ...options.env, [MARK]: markOf(options.session, id) },
    // A session and group of its own, by which what it starts is found.
    detached: true,
  });
  // It may have ended before it has read it; that is told by its exit.
  child.stdin?.on("error", () => {});
  child.stdin?.end(options.token);
  if (child.pid !== undefined) preferForOomKiller(child.pid);
  return { child, log };
}

function preferForOomKiller(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, OOM_SCORE);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // No /proc (macOS), or the process has ended already: either way there is nothing to prefer.
    if (code === "ENOENT" || code === "ESRCH") return;
    // A container may have /proc to read only; the worker is as good without.
    process.stderr.write(`the OOM killer cannot be told to prefer the process ${pid}: ${message}\n`);
  }
}
