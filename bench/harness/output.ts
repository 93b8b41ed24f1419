/** What a program prints: its report, among the engine's own output, and the reason in its last lines if it fails. */
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import type { ProgramReport } from "../workload.ts";

export type Program = ChildProcessByStdio<null, Readable, Readable>;

const STDERR_KEPT = 4_000;

export class Output {
  report: ProgramReport | null = null;
  /** When the line with the report came, on `performance.now()`'s clock. */
  reportedAt = 0;
  #line = "";
  #stderr = "";

  constructor(program: Program) {
    program.stdout.setEncoding("utf8").on("data", (chunk: string) => this.#read(chunk));
    program.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.#stderr = (this.#stderr + chunk).slice(-STDERR_KEPT);
    });
  }

  /**
   * Node prints the error above its stack, Python below it: the last line that contains an error, otherwise the last
   * line of all.
   */
  get reason(): string {
    const lines = this.#stderr.split("\n").filter((line) => line.trim() !== "");
    return lines.findLast((line) => /^[\w.]*(Error|Exception)\b/.test(line)) ?? lines.at(-1) ?? "";
  }

  #read(chunk: string): void {
    const now = performance.now();
    const lines = (this.#line + chunk).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) {
      const report = parseReport(line);
      if (report !== null) {
        this.report = report;
        this.reportedAt = now;
      }
    }
  }
}

function parseReport(line: string): ProgramReport | null {
  if (!line.startsWith("{")) {
    return null;
  }
  try {
    const value = JSON.parse(line) as Partial<ProgramReport>;
    return typeof value.seconds === "number" && value.answer !== undefined
      ? { seconds: value.seconds, startup: value.startup ?? 0, answer: value.answer }
      : null;
  } catch {
    return null; // not a report, but a line of the engine's own
  }
}
