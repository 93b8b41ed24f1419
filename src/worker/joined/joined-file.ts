/**
 * The small files of a task or a question, joined into one file in memory that the kernel opens once. Joining also
 * shows whether they can be joined. If a file is missing, damaged or unusual, there is no joined file, and the kernel
 * reads each file separately, which also gives the error.
 */
import { closeSync, writeSync } from "node:fs";
import { quoteText } from "../../arrow/index.ts";
import { openMemoryFile } from "../../native/index.ts";
import { ParquetJoin } from "../../parquet/index.ts";
import { fillPlaceholders, JOINED, type JoinedFiles, type JoinedFormat } from "../../protocol/index.ts";
import { CsvJoin } from "./csv-join.ts";
import { JsonJoin } from "./json-join.ts";
import { WholeFiles } from "./whole-files.ts";

/** Files read between two turns of the event loop. */
const FILES_A_TURN = 64;

interface Join {
  add(file: Uint8Array): boolean;
  parts(): readonly Uint8Array[] | null;
}

export class JoinedFile {
  /** SQL that reads the rows of all the files. */
  readonly sql: string;
  #fd: number | null;

  private constructor(fd: number, path: string, sql: string) {
    this.#fd = fd;
    this.sql = fillPlaceholders(sql, new Map([[JOINED, quoteText(path)]]));
  }

  /** `turn` is called now and then. It throws when the work is cancelled. */
  static async of(
    files: readonly string[],
    joined: JoinedFiles,
    turn: () => void | Promise<void> = () => {},
    reader = new WholeFiles(joined.since === undefined ? null : { for: "task", since: joined.since }),
  ): Promise<JoinedFile | null> {
    const join = joinOf(joined);
    for (const [i, path] of files.entries()) {
      const bytes = reader.read(path);
      if (bytes === null || !join.add(bytes)) return null;
      if (i % FILES_A_TURN === 0) await turn();
    }
    const parts = join.parts();
    const file = parts === null ? null : openMemoryFile("spillway-joined");
    if (parts === null || file === null) return null;
    const one = new JoinedFile(file.fd, file.path, joined.sql);
    try {
      for (const part of parts) writeAll(file.fd, part);
      return one;
    } catch (error) {
      one.close();
      throw error;
    }
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}

function joinOf(joined: JoinedFormat): Join {
  switch (joined.kind) {
    case "parquet":
      return new ParquetJoin();
    case "json":
      return new JsonJoin();
    case "csv":
      return new CsvJoin(joined);
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}
