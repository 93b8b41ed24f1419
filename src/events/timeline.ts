/**
 * What happened when, in at most `MOST` buckets of equal width. When a session outgrows them, each pair of neighbours
 * becomes one bucket of twice the width.
 */
import type { Bytes, Milliseconds } from "../protocol/index.ts";

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
  return {
    tasks: one.tasks + two.tasks,
    rows: one.rows + two.rows,
    spilledBytes: one.spilledBytes + two.spilledBytes,
    restoredBytes: one.restoredBytes + two.restoredBytes,
    kills: one.kills + two.kills,
    nodeUsed: Math.max(one.nodeUsed, two.nodeUsed),
    resident: Math.max(one.resident, two.resident),
    privateBytes: Math.max(one.privateBytes, two.privateBytes),
  };
}
