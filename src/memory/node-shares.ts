/**
 * How several sessions of a user divide the memory of one node. A session with a job running gets the same as every
 * other such session; an idle one gets its floor: one worker, and 5 % of the memory for its store. What a user's own
 * options ask for is a larger floor, and `resourceLimits.memory` is a ceiling. A session grows only into what the
 * others have already left. Only arithmetic.
 */
import type { Bytes } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";
import { LEAST_STORE_SHARE } from "./allotment.ts";
import { fixedShares } from "./shares.ts";

export interface SessionOnNode {
  readonly name: string;
  /** Pid of its program. */
  readonly program: number;
  readonly isBusy: boolean;
  /** What its explicit options need together, 0 without such options, and which options these are. */
  readonly claim: Bytes;
  readonly claims: readonly string[];
  /** The most that it may use. */
  readonly most: Bytes;
  /** What it may use now, and what its processes and its store hold. */
  readonly granted: Bytes;
  readonly holds: Bytes;
}

/** Of these sessions, what each is to have in the end. The sum is at most the node's memory, unless claims pass it. */
export function fairShares(node: Bytes, sessions: readonly SessionOnNode[]): ReadonlyMap<string, Bytes> {
  const floors = new Map(sessions.map((one) => [one.name, floorOf(node, one, sessions.length)]));
  const floor = (one: SessionOnNode) => floors.get(one.name) ?? 0;
  const areAllIdle = sessions.every(({ isBusy }) => !isBusy);
  const growing = sessions.filter(({ isBusy }) => isBusy || areAllIdle);
  const resting = sessions.filter((one) => !growing.includes(one));
  const left = node - resting.reduce((sum, one) => sum + floor(one), 0);
  const level = levelOf(left, growing, floor);
  return new Map(sessions.map((one) => [one.name, growing.includes(one) ? at(level, one, floor(one)) : floor(one)]));
}

/** What a session may use now: its fair share, as far as the others have left it, and its floor in any case. */
export function grantOf(node: Bytes, own: SessionOnNode, others: readonly SessionOnNode[]): Bytes {
  const all = [own, ...others];
  const fair = fairShares(node, all).get(own.name) ?? node;
  const taken = others.reduce((sum, one) => sum + Math.max(one.granted, one.holds), 0);
  return Math.floor(Math.max(floorOf(node, own, all.length), Math.min(fair, node - taken)));
}

/** Why the session cannot have what its options ask for beside the others; null: it can. */
export function refusal(node: Bytes, own: SessionOnNode, others: readonly SessionOnNode[]): string | null {
  if (own.claim === 0) return null;
  const count = others.length + 1;
  const needed = others.reduce((sum, one) => sum + floorOf(node, one, count), 0);
  if (own.claim + needed <= node || others.length === 0) return null;
  const who = others.map((one) => `${one.name} (program ${one.program}) ${formatSize(floorOf(node, one, count))}`);
  return (
    `session: ${own.claims.join(", ")} need ${formatSize(own.claim)}, and ${formatSize(Math.max(0, node - needed))} of the node's ` +
    `${formatSize(node)} are left beside other sessions of yours, which need at least: ${who.join("; ")}. Ask for less, end one of ` +
    "them, or let this session not share the node (shareNode: false)."
  );
}

function floorOf(node: Bytes, { claim, most }: SessionOnNode, sessions: number): Bytes {
  const { overhead, worker } = fixedShares;
  const least = Math.min(node / sessions, overhead + worker + node * LEAST_STORE_SHARE);
  return Math.min(Math.max(least, claim), most);
}

function at(level: Bytes, { most }: SessionOnNode, floor: Bytes): Bytes {
  return Math.max(floor, Math.min(level, most));
}

const STEPS = 50;

/** The level up to which all can be filled from what is left; found by halving. */
function levelOf(left: Bytes, sessions: readonly SessionOnNode[], floor: (one: SessionOnNode) => Bytes): Bytes {
  let [low, high] = [0, Math.max(0, left)];
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2;
    const sum = sessions.reduce((all, one) => all + at(middle, one, floor(one)), 0);
    if (sum <= left) low = middle;
    else high = middle;
  }
  return low;
}
