/**
 * The text of a stream as UTF-8, piece by piece: unpacked, decoded, with bad bytes replaced or refused, and with
 * uniform line ends. A plain stream needs none of this: its bytes are those of the file.
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { SourceError } from "../errors/index.ts";
import { RETURN_MARK, type TextEncoding, type TextStream } from "../protocol/index.ts";
import { messageOf } from "../realm/index.ts";
import { LastLine, lastLineFault } from "./last-line.ts";
import { linesBefore } from "./lines.ts";
import { gzipWords } from "./whole-packed.ts";
import { unpackedZstd, unpacksZstd } from "./zstd.ts";

const PIECE = 2 ** 18;
const LINE_FEED = 10;
const NOTHING = Buffer.alloc(0);

/** Whether the stream gives the bytes of the file unchanged. */
export function isPlain(stream: TextStream): boolean {
  return stream.packing === null && !stream.marksReturns && !isDecoded(stream);
}

/** UTF-8 needs no decoding: the kernel checks it. */
function isDecoded({ encoding, badBytes }: TextStream): boolean {
  return encoding !== "utf-8" || badBytes === "replace";
}

/** By the file's name, unless `compression` is given. */
export function packingOf(path: string, compression: string | null): TextStream["packing"] {
  const named = compression === null || compression.startsWith("auto") ? /\.(gz|zst)$/i.exec(path)?.[1] : compression;
  if (named === undefined) return null;
  return /^gz/i.test(named) ? "gzip" : /^zst/i.test(named) ? "zstd" : null;
}

export async function* textOf(stream: TextStream): AsyncGenerator<Uint8Array> {
  const decoder = isDecoded(stream) ? new Decoder(stream) : null;
  const returns = stream.marksReturns ? new Returns() : null;
  const lastLine = new LastLine();
  for await (const piece of unpacked(stream)) {
    const text = decoder === null ? piece : await decoder.decode(piece, false);
    const marked = returns === null ? text : returns.mark(text, false);
    lastLine.push(marked);
    yield marked;
  }
  const rest = decoder === null ? NOTHING : await decoder.decode(NOTHING, true);
  const marked = returns === null ? rest : returns.mark(rest, true);
  lastLine.push(marked);
  yield marked;
  const { operator, path, refusedLine } = stream;
  const fault = refusedLine === undefined ? null : lastLineFault(lastLine, refusedLine);
  if (fault !== null) throw new SourceError(`${operator}: ${path} cannot be read: ${fault}.`, path);
}

/** Throws an error with the line if a file's bytes are not UTF-8. */
export async function checkUtf8(path: string): Promise<void> {
  const { size } = await stat(path);
  const stream: TextStream = {
    operator: "readText",
    path,
    start: 0,
    end: size,
    encoding: "utf-8",
    packing: null,
    badBytes: "refuse",
    marksReturns: false,
  };
  const decoder = new Decoder(stream);
  for await (const piece of unpacked(stream)) await decoder.decode(piece, false);
  await decoder.decode(NOTHING, true);
}

async function* unpacked(stream: TextStream): AsyncGenerator<Buffer> {
  const { operator, path, packing, start, end } = stream;
  if (end <= start) return;
  if (packing === "zstd" && !unpacksZstd) {
    throw new SourceError(
      `${operator}: ${path} is compressed with zstd, which Node ${process.version} cannot unpack. Use Node 22.15 or later, or unpack the file.`,
      path,
    );
  }
  try {
    for await (const piece of pieces(stream)) yield piece;
  } catch (error) {
    if (error instanceof SourceError) throw error;
    const fault = packing === "gzip" ? gzipWords(messageOf(error)) : `${messageOf(error)}. It may be damaged`;
    throw new SourceError(`${operator}: ${path} cannot be read: ${fault}.`, path);
  }
}

/** Leaving a loop over the pieces closes the file. */
function pieces({ path, packing, start, end }: TextStream): AsyncIterable<Buffer> {
  // A zstd file is one stream, from its first byte to its last.
  if (packing === "zstd") return unpackedZstd(path);
  const bytes = createReadStream(path, { start, end: end - 1, highWaterMark: PIECE });
  if (packing === null) return bytes;
  const unpacker = createGunzip();
  // The loop that reads gets the errors of both.
  pipeline(bytes, unpacker).catch(() => {});
  return unpacker;
}

const NAMES: Readonly<Record<Exclude<TextEncoding, "latin-1">, string>> = {
  "utf-8": "utf-8",
  // In the web standard, latin-1 means windows-1252 as well.
  "windows-1252": "windows-1252",
  "utf-16le": "utf-16le",
  "utf-16be": "utf-16be",
};

export function badBytesError(path: string, line: number, encoding: TextEncoding): SourceError {
  return new SourceError(
    `readText: ${path}, line ${line}: some bytes are not ${encoding.toUpperCase()}. Give the file's encoding, such as encoding: "latin-1", or replace such bytes with badBytes: "replace".`,
    path,
  );
}

/** Converts bytes of an encoding to UTF-8. */
class Decoder {
  readonly #decoder: InstanceType<typeof TextDecoder> | null;
  /** Lines before the current piece. */
  #lines = 0;

  constructor(private readonly stream: TextStream) {
    const { encoding, badBytes, start } = stream;
    // A byte order mark is dropped at the beginning of a file; elsewhere it is a character.
    const options = { fatal: badBytes === "refuse", ignoreBOM: start > 0 };
    this.#decoder = encoding === "latin-1" ? null : new TextDecoder(NAMES[encoding], options);
  }

  async decode(piece: Buffer, isLast: boolean): Promise<Buffer> {
    const text = await this.#text(piece, isLast);
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.#lines++;
    return Buffer.from(text, "utf8");
  }

  async #text(piece: Buffer, isLast: boolean): Promise<string> {
    if (this.#decoder === null) return piece.toString("latin1");
    try {
      return this.#decoder.decode(piece, { stream: !isLast });
    } catch {
      throw await this.#refusal(1 + this.#lines + this.#linesUntilBad(piece));
    }
  }

  async #refusal(line: number): Promise<SourceError> {
    const { path, start, encoding } = this.stream;
    const before = await linesBefore(path, start, encoding).catch(() => 0);
    return badBytesError(path, line + before, encoding);
  }

  /** Line ends before the first wrong byte. A character that the previous piece cut off is on the same line. */
  #linesUntilBad(piece: Buffer): number {
    const { encoding } = this.stream;
    if (encoding === "latin-1") return 0;
    const wide = encoding === "utf-16le" || encoding === "utf-16be" ? 2 : 1;
    const decoder = new TextDecoder(NAMES[encoding], { fatal: true });
    // A piece may begin in the middle of a character.
    let from = 0;
    while (wide === 1 && from < 3 && ((piece[from] ?? 0) & 0xc0) === 0x80) from++;
    let lines = 0;
    try {
      for (let at = from; at < piece.length; at += wide) {
        decoder.decode(piece.subarray(at, at + wide), { stream: true });
        if (piece[at + (encoding === "utf-16be" ? 1 : 0)] === LINE_FEED) lines++;
      }
    } catch {
      return lines;
    }
    return lines;
  }
}

const RETURN = 13;
const MARK_BYTES = Buffer.from(RETURN_MARK).toString("latin1");

/** Replaces line ends of two characters by one, and marks returns that are not line ends. */
class Returns {
  /** The last piece ended with a return: the next piece shows whether it was a line end. */
  #open = false;

  mark(piece: Uint8Array, isLast: boolean): Uint8Array {
    if (!this.#open && !piece.includes(RETURN)) return piece;
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    let text = (this.#open ? "\r" : "") + bytes.toString("latin1");
    this.#open = !isLast && text.endsWith("\r");
    if (this.#open) text = text.slice(0, -1);
    return Buffer.from(text.replaceAll("\r\n", "\n").replaceAll("\r", MARK_BYTES), "latin1");
  }
}
