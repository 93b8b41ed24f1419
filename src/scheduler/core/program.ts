/** Messages of the program: each is handed to the part of the scheduler that knows about it, or answered here. */

import { SpillwayError, StoreError, toWire } from "../../errors/index.ts";
import type { BlockId } from "../../protocol/index.ts";
import { addCredit, outputRead } from "../flow/index.ts";
import { cancelJob, startJob, wayPlanned } from "../jobs/index.ts";
import { limitsGiven, setMemoryLimit } from "../memory/index.ts";
import { addInspection } from "../phases/index.ts";
import { askForProgram, programIsActive, programRangeUsed } from "../placement/index.ts";
import { memoryAsked, workComes } from "../starts/index.ts";
import type { JobMessage } from "../state/index.ts";
import { note, type State, tell, tellNotice } from "../state/index.ts";
import { collected, rebalance } from "../store/index.ts";
import { resourcesReport } from "./report.ts";

export function fromProgram(state: State, message: JobMessage): void {
  switch (message.type) {
    case "reserve":
      askForProgram(state, message.request, message.bytes);
      return;
    case "seal":
      sealForProgram(state, message);
      return;
    case "release":
      programIsActive(state);
      for (const id of message.blocks) releaseForProgram(state, id);
      return;
    case "keep":
      programIsActive(state);
      for (const id of message.blocks) outputRead(state, id);
      return;
    case "collected":
      collected(state, message.took);
      return;
    case "inspect":
      workComes(state);
      if (state.starts.error === null) {
        const { request, sql, quick, maxRetries } = message;
        const asked = quick === undefined ? { sql } : { sql, quick };
        addInspection(state, { request, ...asked, maxRetries, attempts: 0, relief: false });
      } else tell(state, { type: "refused", request: message.request, error: state.starts.error });
      return;
    case "resources":
      tell(state, { type: "resources", request: message.request, resources: resourcesReport(state) });
      return;
    case "memory":
      memoryAsked(state, message.request);
      return;
    case "setMemoryLimit":
      setMemoryLimit(state, message.limit, message.heap);
      limitsGiven(state, message.limit, message.heap, message.isAutomatic);
      tell(state, { type: "limitSet", request: message.request });
      return;
    case "rebalance":
      tell(state, { type: "rebalanced", request: message.request, moved: rebalance(state) });
      return;
    case "start":
      workComes(state);
      startJob(state, message.job);
      return;
    case "wayPlanned": {
      const job = state.jobs.get(message.job);
      if (job !== undefined) wayPlanned(state, job, message);
      return;
    }
    case "want": {
      const job = state.jobs.get(message.job);
      if (job !== undefined) addCredit(state, job, message.blocks);
      return;
    }
    case "cancel": {
      const job = state.jobs.get(message.job);
      if (job !== undefined) cancelJob(state, job, message.tell === true);
      return;
    }
  }
}

function sealForProgram(state: State, message: Extract<JobMessage, { type: "seal" }>): void {
  const { request, range, length, rows, checksum } = message;
  const granted = state.placement.programRanges.get(range.offset);
  if (granted === undefined || length > granted.length) {
    const error = new StoreError(
      `The program sealed ${length} bytes at ${range.offset}, where it had no reservation of that length.`,
    );
    tell(state, { type: "refused", request, error: toWire(error) });
    return;
  }
  programRangeUsed(state, range);
  const block = state.ledger.seal(granted, length, rows, checksum, "program", null);
  note(state, { type: "blockMade", block: block.id, bytes: length, rows, task: null, worker: null });
  tell(state, { type: "sealed", request, block });
}

function releaseForProgram(state: State, id: BlockId): void {
  try {
    outputRead(state, id);
    state.ledger.release(id, "program");
  } catch (error) {
    if (!(error instanceof SpillwayError)) throw error;
    tellNotice(state, { kind: "releasedTwice", error: error.message });
  }
}
