/** The size of a window: a number of blocks, or as many blocks as fit into a number of bytes. */
import { OptionError } from "../../errors/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { parseSize } from "../../units/index.ts";
import { checkKeys, positiveInteger } from "../options.ts";

export type WindowOptions =
  /** This many blocks of the read; a block is what one task reads. */
  | { readonly blocks: number; readonly bytes?: undefined }
  /** As many blocks as fit into this size, at least one: bytes, or "512 MiB". */
  | { readonly bytes: number | string; readonly blocks?: undefined };

export type WindowSize =
  | { readonly kind: "blocks"; readonly blocks: number }
  | { readonly kind: "bytes"; readonly bytes: Bytes };

export function windowSize(options: WindowOptions): WindowSize {
  checkKeys("window", options, ["blocks", "bytes"]);
  const { blocks, bytes } = options;
  if ((blocks === undefined) === (bytes === undefined)) {
    throw new OptionError('window: give either blocks or bytes: window({ blocks: 10 }), window({ bytes: "512 MiB" }).');
  }
  if (bytes === undefined) return { kind: "blocks", blocks: positiveInteger("window", "blocks", blocks) };
  const size = parseSize(bytes, { name: "window: bytes" });
  if (size < 1) throw new OptionError(`window: bytes is ${JSON.stringify(bytes)}; it must be above 0.`);
  return { kind: "bytes", bytes: size };
}

export interface BlockSpan {
  readonly from: number;
  /** Not included. */
  readonly to: number;
}

/** The blocks of each window, in order. No blocks at all still make one window, so that its columns are known. */
export function spans(sizes: readonly Bytes[], window: WindowSize): readonly BlockSpan[] {
  const found: BlockSpan[] = [];
  let from = 0;
  let bytes = 0;
  sizes.forEach((size, i) => {
    const full = window.kind === "blocks" ? i - from >= window.blocks : i > from && bytes + size > window.bytes;
    if (full) {
      found.push({ from, to: i });
      from = i;
      bytes = 0;
    }
    bytes += size;
  });
  return [...found, { from, to: sizes.length }];
}
