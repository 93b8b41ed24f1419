/** What a reader must know about the machine and the versions to interpret the figures. */
import { execFile } from "node:child_process";
import { availableParallelism, cpus, totalmem } from "node:os";
import { promisify } from "node:util";

export interface Facts {
  readonly date: string;
  readonly commit: string;
  readonly cores: number;
  readonly cpu: string;
  readonly memory: number;
  readonly node: string;
  readonly peers: Readonly<Record<string, string>>;
}

export async function facts(project: string, peers: Readonly<Record<string, string>>): Promise<Facts> {
  return {
    date: new Date().toISOString(),
    commit: await commitOf(project),
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? "unknown",
    memory: totalmem(),
    node: process.version,
    peers,
  };
}

/** A copy without git history has no commit; the report is still useful. */
async function commitOf(project: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)("git", ["describe", "--always", "--dirty"], { cwd: project });
    return stdout.trim();
  } catch {
    return "unknown";
  }
}
