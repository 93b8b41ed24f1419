/** Lines about what happened, in the words of the report. */
import type { RecordedEvent } from "../../protocol/index.ts";
import { lineOf } from "../../report/index.ts";
import type { Happened } from "../api.ts";

/** Null when another line says it. */
export function happenedLine(event: RecordedEvent): Happened | null {
  const line = lineOf(event);
  if (line === null) return null;
  const worker = "worker" in event ? event.worker : null;
  const operator = "operator" in event && typeof event.operator === "string" ? event.operator : null;
  return { at: event.at, type: event.type, ...line, worker, operator };
}
