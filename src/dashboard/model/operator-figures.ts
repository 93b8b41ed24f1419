/**
 * What the dashboard knows of an operator beyond its totals: rates, waiting blocks, memory over time, and its tasks.
 */
import type { BlockState, Bytes, Milliseconds } from "../../protocol/index.ts";
import type { TaskCard } from "../api.ts";
import { TaskCurves } from "./task-curves.ts";
import { Top } from "./top.ts";

const SECOND = 1_000;
/** Seconds that rates are taken over. */
const RECENT = 5;
const KEPT_TASKS = 200;
/** Of an operator whose job ended before several others: 10 KB instead of 100. */
const KEPT_OF_OLD = 20;
const CURVES_OF_OLD = 2;

export class OperatorFigures {
  /** Blocks that the operator made and that neither a task nor the program has taken. */
  queuedBlocks = 0;
  queuedBytes: Bytes = 0;
  /** How many of the operator's blocks are on disk now. */
  spilledBlocks = 0;
  /** Private memory of the workers that run the operator's tasks. */
  memoryNow: Bytes = 0;
  readonly curves = new TaskCurves();
  readonly longest = new Top<TaskCard>(KEPT_TASKS);
  readonly fullest = new Top<TaskCard>(KEPT_TASKS);
  /** A ring of the last seconds, with what each of them brought. */
  readonly #seconds = Array.from({ length: RECENT + 1 }, () => ({ second: -1, rows: 0, bytes: 0 }));

  made(at: Milliseconds, rows: number, bytes: Bytes): void {
    const second = Math.floor(at / SECOND);
    const slot = this.#seconds[second % this.#seconds.length];
    if (slot === undefined) return;
    if (slot.second !== second) Object.assign(slot, { second, rows: 0, bytes: 0 });
    slot.rows += rows;
    slot.bytes += bytes;
  }

  /** Means over the last seconds; over the time since the start when the operator is younger. */
  rates(now: Milliseconds, startedAt: Milliseconds | null): { readonly rows: number; readonly bytes: number } {
    const second = Math.floor(now / SECOND);
    let [rows, bytes] = [0, 0];
    for (const slot of this.#seconds) {
      if (slot.second < second - RECENT || slot.second > second) continue;
      rows += slot.rows;
      bytes += slot.bytes;
    }
    const since = Math.max(startedAt ?? 0, (second - RECENT) * SECOND);
    const seconds = Math.max(0.2, (now - since) / SECOND);
    return { rows: rows / seconds, bytes: bytes / seconds };
  }

  /** Its job is one of the older ones: keeps fewer of its tasks. The others are counted. */
  shrink(): void {
    this.longest.shrink(KEPT_OF_OLD);
    this.fullest.shrink(KEPT_OF_OLD);
    this.curves.shrink(CURVES_OF_OLD);
  }

  blockMade(bytes: Bytes): void {
    this.queuedBlocks += 1;
    this.queuedBytes += bytes;
  }

  blockTaken(bytes: Bytes): void {
    this.queuedBlocks -= 1;
    this.queuedBytes -= bytes;
  }

  blockMoved(from: BlockState, to: BlockState): void {
    if (from === "spilled") this.spilledBlocks -= 1;
    if (to === "spilled") this.spilledBlocks += 1;
  }
}
