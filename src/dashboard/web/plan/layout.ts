/** Lays out the boxes of a plan with dagre. Only the edges between operators matter to it. */
import { Graph, layout } from "@dagrejs/dagre";
import type { OperatorCard } from "../../api.ts";

export const BOX = { width: 236, height: 108 };

export interface Arrow {
  readonly from: number;
  readonly to: number;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

interface Laid {
  readonly width: number;
  readonly height: number;
  readonly places: readonly { readonly id: number; readonly x: number; readonly y: number }[];
  readonly arrows: readonly Arrow[];
}

/** Boxes may shrink to this scale if they then fit side by side. */
const SMALLEST = 0.72;

/** From left to right where the width allows it, otherwise from top to bottom. */
export function laidOut(cards: readonly OperatorCard[], room: number): Laid {
  const wide = laid(cards, "LR");
  return wide.width * SMALLEST <= room ? wide : laid(cards, "TB");
}

function laid(cards: readonly OperatorCard[], rankdir: "LR" | "TB"): Laid {
  const graph = new Graph();
  graph.setGraph({ rankdir, nodesep: 24, ranksep: rankdir === "TB" ? 34 : 56, marginx: 8, marginy: 14 });
  graph.setDefaultEdgeLabel(() => ({}));
  const known = new Set(cards.map(({ id }) => id));
  for (const { id } of cards) graph.setNode(String(id), { ...BOX });
  for (const { id, plan } of cards) {
    for (const input of plan.inputs) if (known.has(input)) graph.setEdge(String(input), String(id));
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    places: cards.map(({ id }) => {
      const { x = 0, y = 0 } = graph.node(String(id));
      return { id, x, y };
    }),
    arrows: graph.edges().map((edge) => ({
      from: Number(edge.v),
      to: Number(edge.w),
      points: graph.edge(edge).points ?? [],
    })),
  };
}
