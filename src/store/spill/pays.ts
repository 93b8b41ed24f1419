/** Whether compressing a block is worth it: a sample from its middle must shrink by a fifth. */
import type { ArenaRange, Bytes } from "../../protocol/index.ts";
import type { ArenaFile } from "./arena-file.ts";
import type { Codec } from "./codecs.ts";
import type { Slices } from "./lane.ts";

const SAMPLE: Bytes = 64 << 10;
const WORTHWHILE = 0.8;

export async function pays(
  codec: Codec,
  { offset, length }: ArenaRange,
  arena: ArenaFile,
  [from, to]: Slices,
): Promise<boolean> {
  const sample = from.subarray(0, Math.min(SAMPLE, length));
  await arena.read(sample, offset + Math.floor((length - sample.length) / 2));
  return (await codec.encode(sample, to)) <= WORTHWHILE * sample.length;
}
