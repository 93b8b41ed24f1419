/**
 * The disk's lane in the task stream. Many blocks are on their way at once; one span covers them from the first block's
 * start to the last block's end.
 */
import type { Lanes } from "../../events/index.ts";
import type { BlockState, Milliseconds } from "../../protocol/index.ts";
import type { Spans } from "./spans.ts";

const WAYS = { spilling: "spill", restoring: "restore" } as const;

export class DiskLane {
  readonly #underWay = { spilling: { blocks: 0, since: 0 }, restoring: { blocks: 0, since: 0 } };

  constructor(
    private readonly lanes: Lanes,
    private readonly spans: Spans,
  ) {}

  restart(): void {
    for (const way of Object.values(this.#underWay)) way.blocks = 0;
  }

  moved(from: BlockState, to: BlockState, at: Milliseconds): void {
    if (from === "spilling" || from === "restoring") this.#arrived(from, at);
    if (to === "spilling" || to === "restoring") this.#left(to, at);
  }

  /** The spans that are still open. */
  now(): readonly { readonly kind: "spill" | "restore"; readonly since: Milliseconds }[] {
    const { spilling, restoring } = this.#underWay;
    return [
      ...(spilling.blocks > 0 ? [{ kind: WAYS.spilling, since: spilling.since }] : []),
      ...(restoring.blocks > 0 ? [{ kind: WAYS.restoring, since: restoring.since }] : []),
    ];
  }

  #left(way: keyof typeof WAYS, at: Milliseconds): void {
    const state = this.#underWay[way];
    if (state.blocks === 0) state.since = at;
    state.blocks += 1;
  }

  #arrived(way: keyof typeof WAYS, at: Milliseconds): void {
    const state = this.#underWay[way];
    if (state.blocks === 0) return;
    state.blocks -= 1;
    if (state.blocks > 0) return;
    const lane = this.lanes.single("disk").id;
    this.spans.add({ start: state.since, end: at, lane, operator: -1, kind: WAYS[way] });
  }
}
