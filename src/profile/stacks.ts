/** Numbers the stacks of the code that makes buffers; equal stacks get equal numbers. */
import type { NewStack, RawFrame } from "./snapshot.ts";

const DEPTH = 64;

/** A call site with the methods of V8 that Node's types lack. */
type CallSite = NodeJS.CallSite & {
  getEnclosingLineNumber?(): number | null;
  getEnclosingColumnNumber?(): number | null;
  getPosition?(): number;
  isAsync?(): boolean;
};

/** Numbers continue across profiles, because the thread remembers the stacks that it was sent. */
let last = 0;

export class Stacks {
  readonly #known = new Map<string, number>();
  #untold: NewStack[] = [];

  /** Frames of `above` and of functions that it called are left out. */
  here(maker: string, above: (...args: never[]) => unknown): number {
    const sites = callSites(above);
    let key = maker;
    for (const site of sites) key += `\n${site.getScriptNameOrSourceURL()}:${placeIn(site)}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    last += 1;
    const id = last;
    this.#known.set(key, id);
    this.#untold.push({ id, maker, frames: sites.flatMap(rawFrame) });
    return id;
  }

  takeUntold(): readonly NewStack[] {
    const untold = this.#untold;
    this.#untold = [];
    return untold;
  }
}

function placeIn(site: CallSite): string | number {
  return site.getPosition?.() ?? `${site.getLineNumber()}:${site.getColumnNumber()}`;
}

/** Restores the user's own stack formatting and stack length before it returns. */
function callSites(above: (...args: never[]) => unknown): readonly CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  let sites: readonly CallSite[] = [];
  try {
    Error.stackTraceLimit = DEPTH;
    Error.prepareStackTrace = (_, found) => {
      sites = found;
      return "";
    };
    const holder = { stack: "" };
    Error.captureStackTrace(holder, above);
    // Reading the property formats the stack.
    void holder.stack;
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
  return sites;
}

/** Built-in functions have no position. Async frames are awaiting callers that are not on the stack. */
function rawFrame(site: CallSite): RawFrame[] {
  const url = site.getScriptNameOrSourceURL();
  if (!url || site.isAsync?.() === true) return [];
  return [
    {
      name: site.getFunctionName() ?? "",
      url,
      line: (site.getLineNumber() ?? 1) - 1,
      column: (site.getColumnNumber() ?? 1) - 1,
      startLine: (site.getEnclosingLineNumber?.() ?? 0) - 1,
      startColumn: (site.getEnclosingColumnNumber?.() ?? 0) - 1,
    },
  ];
}
