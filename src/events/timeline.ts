/**
 * What happened when, in at most `MOST` buckets of equal width. When a session outgrows them, each pair of neighbours
 * becomes one bucket of twice the width.
 */
import type { Bytes, JobId, Milliseconds } from "../protocol/index.ts";

export interface Timeline {
  width: Milliseconds;
  /** The time at which the first bucket begins. */
  from: Milliseconds;
  buckets: Bucket[];
}

interface Bucket {
  tasks: number;
  rows: number;
  spilledBytes: Bytes;
  restoredBytes: Bytes;
  kills: number;
  /** Highest values measured. */
  nodeUsed: Bytes;
  resident: Bytes;
  privateBytes: Bytes;
  /** By `job/operator`: the number of tasks that ended, and their sums. */
  operators: Record<string, { tasks: number; wall: Milliseconds; rows: number; bytes: Bytes }>;
}

const MOST = 600;

export function bucketAt(timeline: Timeline, at: Milliseconds): Bucket {
  while (at - timeline.from >= timeline.width * MOST) halve(timeline);
  const index = Math.max(0, Math.floor((at - timeline.from) / timeline.width));
  while (timeline.buckets.length <= index) timeline.buckets.push(emptyBucket());
  const bucket = timeline.buckets[index];
  if (bucket === undefined) throw new Error(`There is no bucket ${index}.`);
  return bucket;
}

export function addTask(
  bucket: Bucket,
  job: JobId,
  operator: number,
  figures: { readonly wall: Milliseconds; readonly rowsOut: number; readonly bytesOut: Bytes },
): void {
  bucket.tasks += 1;
  bucket.rows += figures.rowsOut;
  const key = `${job}/${operator}`;
  let totals = bucket.operators[key];
  if (totals === undefined) {
    totals = { tasks: 0, wall: 0, rows: 0, bytes: 0 };
    bucket.operators[key] = totals;
  }
  totals.tasks += 1;
  totals.wall += figures.wall;
  totals.rows += figures.rowsOut;
  totals.bytes += figures.bytesOut;
}

function emptyBucket(): Bucket {
  return {
    tasks: 0,
    rows: 0,
    spilledBytes: 0,
    restoredBytes: 0,
    kills: 0,
    nodeUsed: 0,
    resident: 0,
    privateBytes: 0,
    operators: {},
  };
}

function halve(timeline: Timeline): void {
  const { buckets } = timeline;
  const fewer: Bucket[] = [];
  for (let at = 0; at < buckets.length; at += 2) {
    const [first, second] = [buckets[at], buckets[at + 1]];
    if (first !== undefined) fewer.push(second === undefined ? first : merged(first, second));
  }
  timeline.width *= 2;
  timeline.buckets = fewer;
}

function merged(one: Bucket, two: Bucket): Bucket {
  const operators = { ...one.operators };
  for (const [key, { tasks, wall, rows, bytes }] of Object.entries(two.operators)) {
    const had = operators[key] ?? { tasks: 0, wall: 0, rows: 0, bytes: 0 };
    operators[key] = {
      tasks: had.tasks + tasks,
      wall: had.wall + wall,
      rows: had.rows + rows,
      bytes: had.bytes + bytes,
    };
  }
  return {
    tasks: one.tasks + two.tasks,
    rows: one.rows + two.rows,
    spilledBytes: one.spilledBytes + two.spilledBytes,
    restoredBytes: one.restoredBytes + two.restoredBytes,
    kills: one.kills + two.kills,
    nodeUsed: Math.max(one.nodeUsed, two.nodeUsed),
    resident: Math.max(one.resident, two.resident),
    privateBytes: Math.max(one.privateBytes, two.privateBytes),
    operators,
  };
}
