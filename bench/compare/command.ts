/** A command of the preparation, such as `git worktree add`: quiet if it succeeds, its output quoted if it fails. */
import { spawn } from "node:child_process";

const OUTPUT_KEPT = 4_000;

/**
 * Returns what the command printed on standard output. It runs in a process group of its own: a terminal's Ctrl-C does
 * not reach it, and `signal` ends the whole group.
 */
export function execute(
  command: readonly string[],
  options: { readonly directory: string; readonly signal?: AbortSignal },
): Promise<string> {
  const { directory, signal } = options;
  const [file = "", ...args] = command;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const child = spawn(file, args, { cwd: directory, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const end = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
      } catch (error) {
        // The process ended first.
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    };
    signal?.addEventListener("abort", end);
    let output = "";
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      output = (output + text).slice(-OUTPUT_KEPT);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-OUTPUT_KEPT);
    });
    child.on("error", reject);
    child.on("close", (code, killedBy) => {
      signal?.removeEventListener("abort", end);
      if (signal?.aborted) reject(signal.reason);
      else if (code === 0) resolve(printed);
      else reject(new Error(`${command.join(" ")} ended with ${killedBy ?? `code ${code}`}:\n${output.trimEnd()}`));
    });
  });
}
