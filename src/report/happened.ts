/** Puts each event that matters to people into one line of text. */
import { noticeText } from "../notices/index.ts";
import type { RecordedEvent } from "../protocol/index.ts";
import { formatSize, needText } from "../units/index.ts";
import { shortened } from "./shortened.ts";

type Severity = "info" | "warning" | "error";

interface Line {
  readonly severity: Severity;
  readonly text: string;
}

/** Null for an event about which another line says everything. */
export function lineOf(event: RecordedEvent): Line | null {
  const line = wholeLineOf(event);
  return line === null ? null : { ...line, text: shortened(line.text) };
}

function wholeLineOf(event: RecordedEvent): Line | null {
  switch (event.type) {
    case "notice":
      return {
        severity: event.notice.kind === "spilled" || event.notice.kind === "restored" ? "info" : "warning",
        text: noticeText(event.notice),
      };
    case "workerGone": {
      const { worker, pid, reason, operator, endedFor } = event;
      const during = operator === null ? "" : ` during ${operator}`;
      const why = endedFor === null ? "" : `: ${endedFor}`;
      return { severity: "error", text: `Worker ${worker} (process ${pid}) ended${during} (${reason})${why}.` };
    }
    case "taskFailed":
      return { severity: "error", text: `Task ${event.task} failed: ${event.error.name}: ${event.error.message}` };
    case "retry":
      return {
        severity: "warning",
        text: `${event.operator}: task ${event.task} runs again after its worker died (${event.reason}).`,
      };
    case "oomRetry": {
      const need = needText(event.need);
      const how = need === "" ? "" : `, with ${need}`;
      return {
        severity: "warning",
        text: `${event.operator}: task ${event.task} ran out of memory and runs again${how}.`,
      };
    }
    case "oomFailure":
      return {
        severity: "error",
        text: `${event.operator}: task ${event.task} ran out of memory, and nothing is left to try.`,
      };
    case "jobFailed":
      return {
        severity: event.error.name === "CancelledError" ? "info" : "error",
        text: `Job ${event.job}: ${event.error.name}: ${event.error.message}`,
      };
    case "pressure": {
      const { worker, from, to, process, limit } = event;
      const amount = `${formatSize(process)} of ${formatSize(limit)}`;
      return {
        severity: to === "normal" ? "info" : "warning",
        text: `Worker ${worker}: ${from} → ${to} at ${amount}.`,
      };
    }
    case "recycled":
      return { severity: "info", text: `Worker ${event.worker} is replaced: ${event.why}.` };
    case "trimmed":
      return {
        severity: "info",
        text: `Worker ${event.worker} gave ${formatSize(event.returned)} back to the system.`,
      };
    case "memoryLimit":
      return {
        severity: "info",
        text: `The limit of a worker is ${event.limit === null ? "gone" : formatSize(event.limit)} from now on.`,
      };
    case "rebalanced":
      return {
        severity: "info",
        text: `${event.blocks} blocks (${formatSize(event.bytes)}) have other workers to answer for them.`,
      };
    default:
      // Either the event is of no interest to people, or workerGone and notice have its line.
      return null;
  }
}
