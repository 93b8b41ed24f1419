/** What a pipeline of numbers gives, for each window and in total. */
import type { DatasetPipeline } from "spillway";

export const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

export async function idsByWindow(pipeline: DatasetPipeline<{ id: number }>): Promise<number[][]> {
  const found: number[][] = [];
  for await (const window of pipeline.iterWindows()) found.push((await window.takeAll()).map((row) => row.id));
  return found;
}

export async function idsOf(pipeline: DatasetPipeline<{ id: number }>): Promise<number[]> {
  return (await pipeline.takeAll()).map((row) => row.id);
}
