/**
 * The files that a task reads: it chooses one of the ways that the task's order allows, keeps what is open, and finds
 * the fault in a file when the kernel could not continue.
 */
import { closeSync, fstatSync, openSync } from "node:fs";
import { emptyBatch, type RecordBatch, readArrowBytes } from "../arrow/index.ts";
import { KernelError, SourceError } from "../errors/index.ts";
import { type Connection, OUT_OF_MEMORY } from "../kernel/index.ts";
import { mapFile, type NativeMemory } from "../native/index.ts";
import { type FilesRead, fillPlaceholders, type JoinedFiles, STREAM_PATH, type TaskInput } from "../protocol/index.ts";
import { messageOf } from "../realm/index.ts";
import { isProved } from "./csv-proof.ts";
import { JoinedFile } from "./joined/index.ts";
import { PackedFiles } from "./packed-files.ts";
import { OpenStream } from "./streams/open-stream.ts";

type SqlInput = Extract<TaskInput, { kind: "sql" }>;

export class TaskFiles {
  readonly files: readonly string[];
  readonly #mapped: NativeMemory[] = [];
  /** What its SQL reads from pipes. */
  #stream: OpenStream | null = null;
  /** What its SQL reads and unpacks by itself. */
  readonly #packed: PackedFiles | null;
  /** The joined file, if the task's files are joined. */
  #joined: JoinedFile | null = null;

  constructor(
    operator: string,
    private readonly input: TaskInput,
  ) {
    const { files, packed = [] } = filesOf(input);
    this.files = files;
    this.#packed = packed.length === 0 ? null : new PackedFiles(operator, packed);
  }

  /** SQL in the place of a table name. `readsAll`: the task will read all rows of the files. */
  async table(
    { sql, stream, proof, joined }: SqlInput,
    readsAll: boolean,
    turn: () => void | Promise<void>,
  ): Promise<string> {
    if (joined !== undefined) this.#joined = await JoinedFile.of(this.files, joined, turn);
    if (this.#joined !== null) return this.#joined.sql;
    const table = proof !== undefined && readsAll && (await isProved(proof, turn)) ? proof.sql : sql;
    if (stream === undefined) return table;
    this.#stream = new OpenStream(stream);
    return fillPlaceholders(table, new Map([[STREAM_PATH, this.#stream.sql]]));
  }

  /** Mapped, not read: a record batch is only touched when its turn comes. */
  arrow(path: string): readonly RecordBatch[] {
    try {
      const fd = openSync(path, "r");
      try {
        const { size } = fstatSync(fd);
        if (size === 0) throw new Error("the file is empty");
        const memory = mapFile(fd, size, false);
        this.#mapped.push(memory);
        const { schema, batches } = readArrowBytes(memory.view(0, size));
        // SQL needs the columns of a file even if the file has no batch.
        return batches.length === 0 ? [emptyBatch(schema)] : batches;
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      throw new SourceError(`readArrow: ${path} could not be read: ${messageOf(error)}`, path);
    }
  }

  /** Called when all wanted rows have come. Throws if a file ended too early. */
  async check(): Promise<void> {
    await this.checkStream();
    await this.checkPacked();
  }

  async checkStream(): Promise<void> {
    await this.#stream?.check();
  }

  async checkPacked(): Promise<void> {
    await this.#packed?.check();
  }

  /** The fault in a file, if it is the reason why the task failed; otherwise the error itself. */
  async inFileWords(error: unknown, connection: Connection, check: () => void): Promise<unknown> {
    // If a stream ended too early, its error is the reason why the kernel failed.
    await this.checkStream();
    if (!(error instanceof KernelError)) return error;
    // The same holds for a packed file that ends too early.
    await this.checkPacked();
    if (this.#stream !== null) return this.#stream.inFileWords(error);
    return (await this.#faultOfOne(error, connection, check)) ?? error;
  }

  close(): void {
    this.#stream?.close();
    this.#packed?.close();
    this.#joined?.close();
    for (const memory of this.#mapped) memory.unmap();
  }

  /** The fault that the kernel finds when it reads each of the joined files by its own name; null: it finds none. */
  async #faultOfOne({ kind }: KernelError, connection: Connection, check: () => void): Promise<unknown> {
    if (this.#joined === null || this.input.kind !== "sql" || kind === OUT_OF_MEMORY) return null;
    const fault = await faultIn(this.input.sql, connection, check);
    const { joined } = this.input;
    if (!(fault instanceof KernelError) || joined === undefined) return fault;
    if (this.files.some((path) => fault.message.includes(path))) return fault;
    const path = await this.#fileWithFault(joined, connection, check);
    return path === null ? fault : new KernelError(`${fault.message}: ${path}`, fault.kind, fault.sql);
  }

  /** The kernel does not name the file if it cannot unpack a page. */
  async #fileWithFault(joined: JoinedFiles, connection: Connection, check: () => void): Promise<string | null> {
    for (const path of this.files) {
      const one = await JoinedFile.of([path], joined, check);
      if (one === null) return path;
      try {
        if ((await faultIn(one.sql, connection, check)) !== null) return path;
      } finally {
        one.close();
      }
    }
    return null;
  }
}

/** The error when all rows of the table are read; null: there is none. */
async function faultIn(table: string, connection: Connection, check: () => void): Promise<unknown> {
  try {
    const stream = await connection.queryAsync(`SELECT * FROM ${table}`);
    try {
      while ((await stream.nextAsync()) !== null) check();
    } finally {
      stream.close();
    }
  } catch (fault) {
    check();
    return fault;
  }
  return null;
}

function filesOf(input: TaskInput): Pick<FilesRead, "files"> & Partial<FilesRead> {
  if (input.kind === "fed") return input.reads ?? { files: [] };
  return "files" in input ? input : { files: [] };
}
