/** How a session failed, and the story of it: made as small as it gets, then told. */
import type { Operator } from "../../src/protocol/index.ts";
import { readsOf } from "./gathering.ts";
import { KINDS, type KindName } from "./kinds.ts";
import { rowsOfSplit } from "./plans.ts";
import { drawSession, type PlannedStart, type Session, type StoreSize } from "./session.ts";
import { shrink } from "./shrink.ts";
import { examine } from "./simulate.ts";
import { Story } from "./story.ts";
import { TooLong, withinTime } from "./watchdog.ts";
import type { World } from "./world.ts";

/** A session takes milliseconds: one that takes so long turns in circles inside one event. */
const LIMIT = 10_000;
/** Enough to tell, a thousand times over, when the same session is tried again. */
const LIMIT_AGAIN = 1_000;

export interface Failure {
  readonly seed: number;
  readonly kind: KindName;
  readonly store: StoreSize;
  readonly message: string;
}

/** What is wrong with the session of the seed; null where nothing is. */
export function failureOf(seed: number, kind: KindName, store: StoreSize): Failure | null {
  const session = drawSession(seed, KINDS[kind], store);
  const message = whatFails(session, kind, store, LIMIT);
  return message === null ? null : { seed, kind, store, message };
}

/** `limit`: of CPU time, since a process on a busy machine may wait for a core for seconds. */
export function whatFails(
  session: Session,
  kind: KindName,
  store: StoreSize,
  limit: number,
  story: Story | null = null,
): string | null {
  for (let cpu = 0; ; ) {
    const found = attempt(session, kind, store, limit, story);
    if (found === null || typeof found === "string") return found;
    cpu += found.error.cpu;
    if (cpu >= limit / 2) return `${found.error.message}${found.where}`;
  }
}

function attempt(
  session: Session,
  kind: KindName,
  store: StoreSize,
  limit: number,
  story: Story | null,
): string | null | { readonly error: TooLong; readonly where: string } {
  let world: World | null = null;
  const begun = (one: World) => {
    world = one;
  };
  try {
    withinTime(limit, () => examine(session, kind, store, story, begun));
    return null;
  } catch (error) {
    if (error instanceof TooLong) return { error, where: whereabouts(world) };
    return error instanceof Error ? error.message : String(error);
  }
}

function whereabouts(world: World | null): string {
  if (world?.handling == null) return "";
  return `: the scheduler turns in circles inside one event, at ${world.now} ms: ${JSON.stringify(world.handling)}`;
}

/** The smallest session that fails in the same way, and the end of what happened in it. */
export function told({ seed, kind, store, message }: Failure): string {
  // Other numbers, the same way.
  const way = (text: string | null) => text?.replace(/\d+/g, "#") ?? null;
  const smallest = shrink(drawSession(seed, KINDS[kind], store), (one) =>
    way(whatFails(one, kind, store, LIMIT_AGAIN)),
  );
  const story = new Story();
  const ending = whatFails(smallest, kind, store, LIMIT_AGAIN, story);
  return [
    `seed ${seed}, ${kind}, ${store}: ${message}`,
    `again: npm run simulate -- --story ${seed} --only ${kind} --store ${store}`,
    describe(smallest),
    story.text,
    `→ ${ending ?? "ended well: it is not the same twice"}`,
  ].join("\n");
}

function describe({
  seed,
  workers,
  extraWorkers,
  pages,
  managedTarget,
  memory,
  broken,
  dangers,
  kept,
  starts,
}: Session): string {
  const present = Object.entries(dangers).filter(([, value]) => value > 0);
  return [
    `made smaller: seed ${seed}, ${workers} workers and ${extraWorkers} more, ${pages} pages` +
      (managedTarget === null ? "" : `, ${managedTarget} bytes a worker`) +
      (memory === null ? "" : `, ${JSON.stringify(memory)}`) +
      (broken === null ? "" : `, no process starts from ${broken.from} to ${broken.to} ms`) +
      (kept === null ? "" : `, ${kept.pages} pages kept for ${kept.duration} ms`) +
      (present.length === 0 ? "" : `, ${present.map(([danger, value]) => `${danger} ${value}`).join(", ")}`),
    ...starts.map(describeStart),
  ].join("\n");
}

function describeStart({ planned, at, keeps, cancelledAfter, abandonedAfter }: PlannedStart): string {
  const { spec, pagesPerRow, rowsPerBlock, growth } = planned;
  const operators = spec.operators.map(
    (one) =>
      `  ${describeOperator(one)}, ${rowsPerBlock.get(one.id)} rows a block` +
      (growth?.has(one.id) === true ? `, grown ${growth.get(one.id)} times` : ""),
  );
  const traits = [
    spec.preserveOrder ? "in order" : "in any order",
    `${pagesPerRow} pages a row`,
    ...(keeps ? ["kept"] : []),
    ...(cancelledAfter === null ? [] : [`cancelled after ${cancelledAfter} ms`]),
    ...(abandonedAfter === null ? [] : [`forgotten after ${abandonedAfter} blocks`]),
  ];
  return [`${spec.id} at ${at} ms: ${traits.join(", ")}`, ...operators].join("\n");
}

function describeOperator(operator: Operator): string {
  const { input } = operator;
  const from =
    input.kind === "operators"
      ? `of ${input.operators.join(" and ")}`
      : input.kind === "fed"
        ? `fed ${input.gather.kind} of ${input.tables.map(({ operators }) => operators.join(" and ")).join(" beside ")}`
        : `of splits with ${input.splits.map((one) => (one.kind === "sql" ? rowsOfSplit(one).length : "?")).join(", ")} rows`;
  if (operator.kind === "slice") return `${operator.id} slice ${operator.offset}, ${operator.limit} ${from}`;
  const { sink, concurrency, minRowsPerTask, request, steps } = operator;
  const isClass = steps.some((step) => step.kind === "function" && step.isClass);
  const demands =
    request.gpu > 0 || request.memory > 0 || request.cpu !== 1 ? ` asking ${JSON.stringify(request)}` : "";
  return (
    `${operator.id} ${operator.place === "wide" ? "wide" : isClass ? "class" : "tasks"} ${from} to ${sink.kind}` +
    (operator.broadcast.length > 0 ? ` beside ${readsOf(operator).at(-1)}` : "") +
    `${sink.kind === "blocks" ? ` of ${sink.targetBytes}` : ""}, ${concurrency.max} at once, ${minRowsPerTask} rows a task${demands}`
  );
}
