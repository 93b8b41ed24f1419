/** The live blocks: by operator, and the largest ones one by one, with their holders. */
import type { BlockView, SessionState } from "../../events/index.ts";
import type { BlocksView } from "../api.ts";
import { type SessionModel, Top, titleOf } from "../model/index.ts";

const MOST = 500;
const OWN = "the program";

type Group = { -readonly [Key in keyof BlocksView["groups"][number]]: BlocksView["groups"][number][Key] };

export function blocksView(model: SessionModel): BlocksView {
  const state = model.now;
  const now = model.time;
  const groups = new Map<string, Group & { readonly held: Set<string> }>();
  const largest = new Top<BlocksView["blocks"][number]>(MOST);
  const readers = readersOf(state);
  for (const block of state.blocks.values()) {
    const { job, operator, bytes, madeAt } = block;
    const key = job === null || operator === null ? null : `${job}/${operator}`;
    let group = groups.get(key ?? "");
    if (group === undefined) {
      const name = job === null || operator === null ? OWN : model.nameOf(job, operator);
      group = { operator: name, key, blocks: 0, inMemory: 0, onDisk: 0, oldest: 0, holders: [], held: new Set() };
      groups.set(key ?? "", group);
    }
    const { operator: name, held } = group;
    const holder = holderOf(block, readers);
    held.add(holder);
    group.blocks += 1;
    if (block.state === "spilled" || block.state === "lost") group.onDisk += bytes;
    else group.inMemory += bytes;
    group.oldest = Math.max(group.oldest, now - madeAt);
    if (!largest.takes(bytes)) continue;
    const { id, rows, worker, state: where } = block;
    largest.add(bytes, { id, operator: name, bytes, rows, state: where, holder, age: now - madeAt, worker });
  }
  const rows = [...groups.values()].map(({ held, ...group }) => ({ ...group, holders: [...held] }));
  rows.sort((one, two) => two.inMemory + two.onDisk - one.inMemory - one.onDisk);
  return { groups: rows, blocks: largest.items, leftOut: largest.seen - largest.items.length };
}

/** For each operator, the operator that reads its blocks. */
function readersOf({ jobs }: SessionState): ReadonlyMap<string, string> {
  const readers = new Map<string, string>();
  for (const { id, operators } of jobs.values()) {
    for (const { plan } of operators) for (const input of plan.inputs) readers.set(`${id}/${input}`, titleOf(plan));
  }
  return readers;
}

function holderOf({ job, operator, isDelivered }: BlockView, readers: ReadonlyMap<string, string>): string {
  if (isDelivered || job === null) return "program";
  const reader = readers.get(`${job}/${operator}`);
  return reader === undefined ? `job ${job}, for the program` : `job ${job}, for ${reader}`;
}
