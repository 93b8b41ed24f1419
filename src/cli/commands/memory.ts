/** `spillway memory`: blocks by operator (size, where, who holds them, age) and the memory of workers by kind. */
import type { Command } from "commander";
import type { SessionState, WorkerView } from "../../events/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { type BlockGroup, blockGroups, largestBlocks } from "../../report/index.ts";
import { formatDuration, formatSize } from "../../units/index.ts";
import { wholeNumber } from "../numbers.ts";
import { type Looked, look, sessionArgument } from "../session-state.ts";
import { table } from "../table.ts";
import { json, printable, say } from "../terminal.ts";

const EXAMPLES = `
Examples:
  spillway memory                 the newest session that runs, or else the newest
  spillway memory latest --blocks 20    and its largest blocks
  spillway memory --json
`;

export function define(command: Command): void {
  sessionArgument(command)
    .option("--blocks <n>", "also the n largest blocks", wholeNumber(0), 0)
    .option("--json", "for programs")
    .addHelpText("after", EXAMPLES)
    .action(async (wanted: string | undefined, { blocks, json: asJson }: { blocks: number; json?: true }) => {
      const looked = await look(wanted);
      say(asJson ? json(fieldsOf(looked)) : textOf(looked, blocks));
    });
}

function textOf({ known, state, standing }: Looked, blocks: number): string {
  const groups = blockGroups(state);
  const parts = [
    `Session ${printable(known.name)} ${standing}.\n`,
    storeLine(state),
    groups.length === 0 ? "There are no blocks.\n" : table([BLOCKS_HEAD, ...groups.map(groupRow)], BLOCKS_TABLE),
  ];
  if (blocks > 0) parts.push(table([LARGEST_HEAD, ...largest(state, blocks)], LARGEST_TABLE));
  const workers = [...state.workers.values()];
  if (workers.length > 0) parts.push(table([WORKERS_HEAD, ...workerRows(state)], WORKERS_TABLE));
  parts.push(processes(state));
  return parts.filter((part) => part !== "").join("\n");
}

const BLOCKS_HEAD = ["operator", "blocks", "size", "in memory", "on disk", "oldest", "held by"];
const BLOCKS_TABLE = { hasHead: true, right: [1, 2, 3, 4, 5] };

function groupRow({ operator, blocks, bytes, inMemory, onDisk, oldest, holders }: BlockGroup): string[] {
  const sizes = [bytes, inMemory, onDisk].map(formatSize);
  return [operator, String(blocks), ...sizes, formatDuration(oldest), holders.join(", ")];
}

const LARGEST_HEAD = ["block", "operator", "size", "rows", "state", "age", "held by"];
const LARGEST_TABLE = { hasHead: true, right: [0, 2, 3, 5] };

function largest(state: SessionState, most: number): string[][] {
  return largestBlocks(state, most).map(({ id, operator, bytes, rows, where, age, holder }) => {
    return [String(id), operator, formatSize(bytes), String(rows), where, formatDuration(age), holder];
  });
}

const WORKERS_HEAD = ["worker", "process", "managed", "unmanaged", "recent", "spilled", "limit", "state", "task"];
const WORKERS_TABLE = { hasHead: true, right: [1, 2, 3, 4, 5, 6] };

function workerRows(state: SessionState): string[][] {
  return [...state.workers.values()].map((worker) => {
    const { id, kind, reading, phase, task } = worker;
    const limit = limitOf(worker);
    const size = (bytes: number | undefined) => (bytes === undefined ? "" : formatSize(bytes));
    const { process, managed, unmanaged, recent, spilled, pressure } = reading ?? {};
    const standing = pressure === undefined || pressure === "normal" ? phase : pressure;
    const name = kind === "wide" ? `${id} (wide)` : String(id);
    const limits = limit === null ? "none" : formatSize(limit);
    return [name, ...[process, managed, unmanaged, recent, spilled].map(size), limits, standing, taskText(state, task)];
  });
}

/** The limit of workers does not apply to the wide kernel, which has a memory of its own. */
function limitOf({ kind, limit }: WorkerView): Bytes | null {
  return kind === "wide" ? null : limit;
}

function taskText(state: SessionState, id: string | null): string {
  const task = [...state.tasks.values()].find((one) => one.id === id);
  if (task === undefined) return "";
  const plan = state.jobs.get(task.job)?.operators.find((one) => one.plan.id === task.operator)?.plan;
  return `${plan?.name ?? "?"} ${task.index}`;
}

function storeLine({ memory, session }: SessionState): string {
  if (memory === null) return "";
  const { resident, onDisk, files } = memory.store;
  const of = session === null ? "" : ` of ${formatSize(session.capacity)}`;
  return `Store: ${formatSize(resident)}${of} in memory, ${formatSize(onDisk)} on disk (files of ${formatSize(files)}).\n`;
}

function processes({ memory, node }: SessionState): string {
  if (memory === null) return "";
  const own = `Program ${formatSize(memory.program.private)}, supervisor ${formatSize(memory.supervisor.private)}`;
  return node === null ? `${own}.\n` : `${own}; node ${formatSize(node.used)} of ${formatSize(node.total)}.\n`;
}

/** Sizes are bytes, times milliseconds. */
function fieldsOf({ known, state }: Looked): unknown {
  return {
    session: known.name,
    status: known.status,
    at: state.at,
    store: state.memory?.store ?? null,
    groups: blockGroups(state),
    blocks: largestBlocks(state, state.blocks.size),
    workers: [...state.workers.values()].map((worker) => ({ ...worker, limit: limitOf(worker) })),
    program: state.memory?.program ?? null,
    supervisor: state.memory?.supervisor ?? null,
    node: state.node,
  };
}
