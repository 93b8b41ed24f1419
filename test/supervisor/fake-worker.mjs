/**
 * A worker that does as its tasks say. A split's `sql` is JSON: { rows, blocks, bytes, ending }, where `ending` is what
 * happens after the blocks: "exit", "abort", "segfault", "sigabrt", "heap", "loop", "fail", "file", or nothing.
 * `children`: it starts two processes before, one in a session of its own, and writes their pids to its log; "hidden":
 * two in sessions of their own with an empty environment, the one started by the other. `once`: only at the first
 * attempt. Blocks are written with pwrite: the arena is a file, mapped or not. Plain JavaScript, so that it starts at
 * once.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";

const [directory, id] = process.argv.slice(2);
if (process.env.FAKE_WORKER === "broken") {
  process.stderr.write("the fake worker is broken\n");
  process.exit(3);
}

const token = readFileSync(0, "utf8");
const socket = connect(join(directory, "supervisor.sock"));
let received = Buffer.alloc(0);
let arena = -1;
let onReserved = null;
let cancelled = false;
const operators = new Map();

function send(message) {
  const body = Buffer.from(JSON.stringify(message));
  const header = Buffer.alloc(4);
  header.writeUInt32LE(body.length);
  socket.write(Buffer.concat([header, body]));
}

socket.on("connect", () => send({ type: "ready", worker: Number(id), pid: process.pid, token }));
socket.on("close", () => process.exit(0));
socket.on("data", (chunk) => {
  received = Buffer.concat([received, chunk]);
  while (received.length >= 4 && received.length >= 4 + received.readUInt32LE(0)) {
    const length = received.readUInt32LE(0);
    const message = JSON.parse(received.toString("utf8", 4, 4 + length));
    received = received.subarray(4 + length);
    handle(message);
  }
});

function handle(message) {
  switch (message.type) {
    case "welcome":
      arena = openSync(message.arena.path, "r+");
      return;
    case "operator":
      operators.set(message.operator.id, message.operator);
      return;
    case "run":
      void run(message.task);
      return;
    case "reserved":
      onReserved(message.range);
      return;
    case "cancel":
      cancelled = true;
      onReserved?.(null);
      return;
    case "retire": {
      const operator = operators.get(message.operator);
      const fails = operator?.name === "badDispose";
      const error = fails ? { name: "FunctionError", message: "dispose threw", stack: null, fields: {} } : null;
      send({ type: "retired", job: message.job, operator: message.operator, error });
      return;
    }
    case "inspect":
      if (message.sql === "die") process.exit(7);
      send({ type: "inspected", request: message.request, rows: [{ sql: message.sql, pid: process.pid }] });
      return;
    case "exit":
      process.exit(0);
  }
}

async function run(task) {
  cancelled = false;
  const operator = operators.get(task.operator);
  const { rows, blocks, bytes, ending, once, children } = work(task, operator);
  if (children === "hidden") await startHidden();
  else if (children) startChildren();
  for (let i = task.handedOver.length; i < blocks; i++) {
    if (operator.sink.kind !== "blocks") break;
    send({ type: "reserve", task: task.id, bytes });
    const range = await new Promise((resolve) => {
      onReserved = resolve;
    });
    onReserved = null;
    if (cancelled || range === null) {
      send({ type: "cancelled", task: task.id });
      return;
    }
    const content = Buffer.alloc(bytes, task.index % 251);
    writeSync(arena, content, 0, bytes, range.offset);
    send({ type: "output", task: task.id, range, length: bytes, rows, checksum: i });
  }
  if (ending !== undefined && !(once && task.attempt > 0)) await end(ending, task, operator);
  if (ending === "fail" || ending === "file") return;
  done(task, rows * blocks, []);
}

function work(task, operator) {
  if (task.input.kind === "sql") return JSON.parse(task.input.sql);
  // Over blocks: one block of as many bytes as came in, the first byte of each checked by whoever reads it.
  let rows = 0;
  let bytes = 0;
  for (const { range, start, end } of task.input.slices) {
    const first = Buffer.alloc(1);
    readSync(arena, first, 0, 1, range.offset);
    rows += end - start;
    bytes += range.length;
  }
  return { rows, blocks: 1, bytes, ending: operator.name === "loopForever" ? "loop" : undefined };
}

function startChildren() {
  for (const detached of [false, true]) {
    const { pid } = spawn("sleep", ["1000"], { stdio: "ignore", detached });
    process.stderr.write(`child ${pid}\n`);
  }
}

/** Nothing tells whose they are. */
async function startHidden() {
  const shell = spawn("/bin/sh", ["-c", "/bin/sleep 1000 & echo $!; wait"], {
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
    env: {},
  });
  const [grandchild] = await once(shell.stdout, "data");
  process.stderr.write(`child ${shell.pid}\nchild ${Number(grandchild)}\n`);
}

async function end(ending, task, operator) {
  switch (ending) {
    case "exit":
      process.stderr.write("about to exit\n");
      process.exit(5);
      break;
    case "abort":
      process.kill(process.pid, "SIGKILL");
      break;
    case "segfault":
      process.kill(process.pid, "SIGSEGV");
      break;
    case "sigabrt":
      process.abort();
      break;
    case "heap": {
      const kept = [];
      for (;;) kept.push(new Array(1000).fill(kept.length));
    }
    case "loop":
      for (;;);
    case "fail": {
      const fields = { operator: operator.name, row: 1, rowText: null, files: [], errorName: "Error", userStack: null };
      send({ type: "failed", task: task.id, error: { name: "FunctionError", message: "boom", stack: null, fields } });
      break;
    }
    case "file": {
      mkdirSync(join(operator.sink.staging, "k=1"), { recursive: true });
      // As real workers name their files: an overwrite goes by that.
      const path = `k=1/part-0000${task.index}-${task.job.repeat(8)}-000.csv`;
      writeFileSync(join(operator.sink.staging, path), `row ${task.index}\n`);
      done(task, 1, [{ path, rows: 1, bytes: 6 }]);
      break;
    }
  }
}

function done(task, rowsOut, files) {
  const report = {
    rowsIn: 0,
    rowsOut,
    bytesOut: 0,
    wall: 1,
    cpu: 1,
    peakMemory: process.memoryUsage().rss,
    addedMemory: 0,
    errored: 0,
    files,
  };
  send({ type: "done", task: task.id, report, heap: { used: 1, limit: 2 }, left: 0 });
}
