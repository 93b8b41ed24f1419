/**
 * One pass over a plan's data, window by window. Every window is the whole plan with its sources cut down to a stretch,
 * so all windows have the same columns and types. The sources are opened anew for each pass.
 */
import { OptionError } from "../../errors/index.ts";
import {
  inputsOf,
  isWindowed,
  type Plan,
  rewriteUp,
  type ScanNode,
  type Source,
  type SourceCut,
  scan,
} from "../../plan/index.ts";
import type { Engine } from "../engine.ts";
import { examinedBy } from "../examine.ts";
import { type BlockSpan, spans, type WindowSize } from "./window-size.ts";

/** `size` null: the pass is one window. */
export async function* windowsOfPass(
  engine: Engine,
  plan: Plan,
  size: WindowSize | null,
): AsyncGenerator<Plan, void, undefined> {
  const fresh = rewriteUp(plan, (node) => (node.kind === "scan" ? scan(node.source.again?.() ?? node.source) : node));
  if (size === null) {
    yield fresh;
    return;
  }
  // Only the kernel can tell whether raw SQL looks at other rows.
  checkPerWindow(await examinedBy(engine, fresh));
  const cuts: SourceCut[] = [];
  for (const { source } of scansOf(fresh)) cuts.push(await (await source.open()).cut());
  const sizes = cuts.flatMap((cut) => cut.sizes);
  for (const span of spans(sizes, size)) yield cutDown(fresh, cuts, span);
}

/** These work on a window as on all rows, because they look at one row at a time, or at one source after the other. */
const ROW_BY_ROW: ReadonlySet<Plan["kind"]> = new Set([
  "scan",
  "project",
  "drop",
  "rename",
  "dropNull",
  "fillNull",
  "filter",
  "function",
  "explode",
  "union",
]);

/** Refuses operators that need all rows: in a window they would see only some. */
export function checkPerWindow(plan: Plan): void {
  const name = needsAllRows(plan);
  if (name !== null) {
    throw new OptionError(
      `window: ${name} needs the whole dataset, but a window has only a part of it. Call it after window, where it works on each window, or run it first: (await ds.materialize()).window(…).`,
    );
  }
  for (const input of inputsOf(plan)) checkPerWindow(input);
}

function needsAllRows(plan: Plan): string | null {
  if (plan.kind === "function" && plan.form === "mapGroups") return "mapGroups";
  if (plan.kind === "project" && plan.items.some(({ expression }) => isWindowed(expression))) {
    return `${plan.operator} with an expression over other rows`;
  }
  if (plan.kind === "filter" && isWindowed(plan.predicate)) return "a condition over other rows";
  if (ROW_BY_ROW.has(plan.kind)) return null;
  if (plan.kind === "aggregate") return "groupBy";
  if (plan.kind === "shuffle") return "randomShuffle";
  if (plan.kind === "sample") return plan.size.kind === "fraction" ? null : "sample({ rows })";
  if (plan.kind === "limit") return plan.limit === null ? "offset" : "limit";
  return plan.kind;
}

export function scansOf(plan: Plan): readonly ScanNode[] {
  return plan.kind === "scan" ? [plan] : inputsOf(plan).flatMap(scansOf);
}

/** Counts blocks through the sources, one after the other. A source without blocks in the span reads nothing. */
function cutDown(plan: Plan, cuts: readonly SourceCut[], { from, to }: BlockSpan): Plan {
  const [...left] = cuts;
  let before = 0;
  return rewriteUp(plan, (node) => {
    const cut = node.kind === "scan" ? left.shift() : undefined;
    if (node.kind !== "scan" || cut === undefined) return node;
    const blocks = cut.sizes.length;
    const within = (place: number) => Math.min(Math.max(place - before, 0), blocks);
    const stretch = stretchOf(node.source, cut, { from: within(from), to: within(to) });
    before += blocks;
    return scan(stretch);
  });
}

function stretchOf(source: Source, cut: SourceCut, { from, to }: BlockSpan): Source {
  return {
    name: source.name,
    // A getter that refers to the source itself: the source may be what keeps its rows in the store.
    get label() {
      return `${source.label}, blocks ${from} to ${to} of ${cut.sizes.length}`;
    },
    open: async () => cut.stretch(from, to),
  };
}
