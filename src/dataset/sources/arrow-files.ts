/**
 * Arrow IPC files, streamed or with a footer. Only their first message, the schema, is read here; a worker maps the rest.
 */
import { open } from "node:fs/promises";
import { readArrowBytes, type Schema, schemaEquals } from "../../arrow/index.ts";
import { OptionError, SourceError } from "../../errors/index.ts";
import { nothingSkipped, type OpenSource, type ScanRequest, type ScanSplits, type Source } from "../../plan/index.ts";
import type { Split } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";
import { columnsOfBatch } from "./blocks.ts";
import { listFiles, type SourceFile } from "./files.ts";
import type { CheckedReadOptions } from "./options.ts";
import { bundled, taskCount } from "./splitting.ts";

export function arrowFileSource(engine: Engine, paths: readonly string[], options: CheckedReadOptions): Source {
  if (options.includePaths || Object.keys(options.schema).length > 0) {
    throw new OptionError(
      "readArrow: the files have their own schema and are read as they are: `schema` and `includePaths` are not for them. Use withColumn and cast.",
    );
  }
  let opened: Promise<OpenSource> | null = null;
  return {
    name: "readArrow",
    label: paths.join(", "),
    open() {
      opened ??= openFiles(engine, paths, options);
      opened.catch(() => {
        opened = null;
      });
      return opened;
    },
  };
}

async function openFiles(
  engine: Engine,
  paths: readonly string[],
  { overrideNumBlocks }: CheckedReadOptions,
): Promise<OpenSource> {
  const files = await listFiles(paths, "readArrow");
  const [first, ...others] = files;
  if (first === undefined) throw new SourceError(`readArrow: nothing matches ${paths.join(", ")}.`, paths.join(", "));
  const schema = await schemaOf(first);
  for (const other of others) {
    if (!schemaEquals(schema, await schemaOf(other))) {
      throw new SourceError(
        `readArrow: ${other.shown} has another schema than ${first.shown}. Read them apart and unite them.`,
        other.path,
      );
    }
  }
  return {
    columns: columnsOfBatch({ schema }),
    partitionColumns: [],
    prunes: false,
    samples: false,
    countRows: async () => null,
    splits: async (request) => splits(engine, files, overrideNumBlocks, request),
  };
}

function splits(
  engine: Engine,
  files: readonly SourceFile[],
  override: number | null,
  { limit }: ScanRequest,
): ScanSplits {
  if (limit === 0) return { splits: [], skipped: { ...nothingSkipped, files: files.length }, notes: [] };
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const count = taskCount({ bytes, rows: null, pieces: files.length }, override, engine.settings);
  const bundles = bundled(files, count, (file) => file.bytes);
  return {
    splits: bundles.map((bundle): Split => ({ kind: "arrow", files: bundle.map((file) => file.path) })),
    skipped: nothingSkipped,
    notes: [],
  };
}

const END_OF_STREAM = new Uint8Array([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

/** The schema message with an end after it is a stream of no batches. */
async function schemaOf(file: SourceFile): Promise<Schema> {
  const handle = await open(file.path, "r").catch((error: unknown) => {
    throw unreadable(file, error);
  });
  try {
    const head = new Uint8Array(16);
    const { bytesRead } = await handle.read(head, 0, 16, 0);
    const isFile = Buffer.from(head.buffer, 0, 6).toString("latin1") === "ARROW1";
    const begin = isFile ? 8 : 0;
    const view = new DataView(head.buffer);
    if (bytesRead < begin + 8) throw new Error("it is too short to be an Arrow file");
    const continued = view.getUint32(begin, true) === 0xffffffff;
    if (!continued && !isFile) throw new Error("it is no Arrow IPC file or stream");
    const length = view.getInt32(begin + (continued ? 4 : 0), true);
    if (length <= 0 || length > file.bytes) throw new Error("its schema is damaged, or it is no Arrow file");
    const message = new Uint8Array((continued ? 8 : 4) + length);
    await handle.read(message, 0, message.length, begin);
    const stream = new Uint8Array(message.length + END_OF_STREAM.length);
    stream.set(message);
    stream.set(END_OF_STREAM, message.length);
    return readArrowBytes(stream).schema;
  } catch (error) {
    throw unreadable(file, error);
  } finally {
    await handle.close();
  }
}

function unreadable(file: SourceFile, error: unknown): SourceError {
  return new SourceError(
    `readArrow: ${file.shown} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    file.path,
  );
}
