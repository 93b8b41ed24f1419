/** A worker process that is fed: a kernel with two threads, blocks in a real arena, messages over a real socket. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { planBlock, readBlock, toRows } from "../../src/arrow/index.ts";
import {
  type PlacedSlice,
  SOCKET,
  type TaskId,
  type ToWorker,
  Wire,
  type WorkerId,
  type WorkerMessage,
} from "../../src/protocol/index.ts";
import { MappedArena } from "../../src/store/mapping.ts";
import { columns, job, operatorOf, sqlStep, taskOf } from "./task-bench.ts";

const SIZE = 64 << 20;
const program = fileURLToPath(new URL("../../dist/worker/main.js", import.meta.url));
let directory = "";
let server: Server;
let child: ChildProcess;
let wire: Wire<WorkerMessage, ToWorker>;
let arena: MappedArena;
let next = 0;
const seen: WorkerMessage[] = [];
let wake: () => void = () => {};

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "fed-process-"));
  const path = join(directory, "arena");
  writeFileSync(path, "");
  truncateSync(path, SIZE);
  const place = { path, size: SIZE, capacity: SIZE };
  arena = new MappedArena(place);
  server = createServer().listen(join(directory, SOCKET));
  await once(server, "listening");
  child = spawn(process.execPath, [program, directory, "4"], { stdio: ["pipe", "inherit", "inherit"] });
  child.stdin?.end("token");
  const [socket] = (await once(server, "connection")) as [Socket];
  wire = new Wire(socket);
  seen.length = 0;
  wire.onMessage((message) => {
    if (message.type === "reserve") wire.send({ type: "reserved", task: message.task, range: allot(message.bytes) });
    seen.push(message);
    wake();
  });
  wire.send({
    type: "welcome",
    worker: 4 as WorkerId,
    arena: place,
    directory,
    lease: { threads: 2, memory: 40 << 20 },
    allowance: null,
    workerData: null,
    profiles: join(directory, "profiles"),
  });
});

afterEach(async () => {
  wire.send({ type: "exit" });
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  arena.close();
  server.close();
  expect(existsSync(join(directory, "kernel-4"))).toBe(false);
  rmSync(directory, { recursive: true });
});

function allot(length: number): { readonly offset: number; readonly length: number } {
  const offset = next;
  next += Math.ceil(length / 4096) * 4096;
  return { offset, length };
}

function block(from: number, rows: number): PlacedSlice {
  const plan = planBlock(columns({ id: Int32Array.from({ length: rows }, (_, i) => from + i) }));
  const range = allot(plan.byteLength);
  plan.write(arena.writable(range));
  return { range, start: 0, end: rows };
}

async function message<Type extends WorkerMessage["type"]>(
  type: Type,
): Promise<Extract<WorkerMessage, { type: Type }>> {
  for (;;) {
    const found = seen.findIndex((each) => each.type === type || each.type === "failed");
    if (found >= 0) {
      const [first] = seen.splice(found, 1);
      if (first?.type === type) return first as Extract<WorkerMessage, { type: Type }>;
      throw new Error(JSON.stringify(first));
    }
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

const task = "j/0/0" as TaskId;
const begin = (sql: string) => {
  next = 0;
  wire.send({ type: "operator", job, operator: operatorOf([sqlStep(sql)]) });
  wire.send({ type: "run", task: taskOf({ kind: "fed", tables: [[{ name: "id", type: "INTEGER" }]] }) });
};

test("is fed, answers each block, spills under its lease, and gives blocks", async () => {
  begin("SELECT id, hash(id) AS h FROM {t0} ORDER BY h LIMIT 10");
  for (let i = 0; i < 4; i++) {
    wire.send({ type: "feed", task, table: 0, slices: [block(i * 1_000_000, 1_000_000)] });
    await message("fed");
    wire.send({ type: "lease", lease: { threads: 2, memory: (40 - i) << 20 } });
  }
  wire.send({ type: "feedEnd", task });
  const output = await message("output");
  const { report } = await message("done");
  expect(report).toMatchObject({ rowsIn: 4_000_000, rowsOut: 10 });
  expect(toRows(readBlock(arena.view({ offset: output.range.offset, length: output.length })), {}).length).toBe(10);
});

test("a cancel ends it while it waits for more, and the next task finds no trace of it", async () => {
  begin("SELECT count(*) AS n FROM {t0}");
  wire.send({ type: "feed", task, table: 0, slices: [block(0, 10)] });
  await message("fed");
  wire.send({ type: "cancel", task });
  await message("cancelled");
  begin("SELECT count(*) AS n FROM {t0}");
  wire.send({ type: "feedEnd", task });
  const output = await message("output");
  await message("done");
  const [row] = toRows(readBlock(arena.view({ offset: output.range.offset, length: output.length })), {});
  expect(row).toEqual({ n: 0 });
});
