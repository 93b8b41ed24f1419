/** Draws the plan: boxes are links to the operators' pages. */

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { OperatorCard } from "../../api.ts";
import { titleOf } from "../../model/operator-title.ts";
import { bytes, count, duration, wholePercent } from "../format.ts";
import { operatorColour } from "../palette.ts";
import { operatorAddress } from "../route.ts";
import { type Arrow, BOX, laidOut } from "./layout.ts";
import { marksOf } from "./marks.ts";

interface PlanGraphProps {
  readonly cards: readonly OperatorCard[];
  readonly now: number;
}

export function PlanGraph({ cards, now }: PlanGraphProps) {
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(1200);
  const shape = cards.map(({ id, plan }) => `${id}<${plan.inputs.join()}`).join(" ");
  // Figures change all the time; the edges between operators do not.
  const laid = useMemo(() => laidOut(cards, room), [shape, room]);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setRoom(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const scale = Math.min(1, room / Math.max(1, laid.width));
  const byId = new Map(cards.map((card) => [card.id, card]));
  const marks = marksOf(cards);
  return (
    <div ref={box} class="graph-box" role="group" aria-label="Plan as a graph" tabIndex={0}>
      <svg
        class="graph"
        width={laid.width * scale}
        height={laid.height * scale}
        viewBox={`0 0 ${laid.width} ${laid.height}`}
        role="group"
        aria-label="Operators"
      >
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerUnits="userSpaceOnUse"
            markerWidth="10"
            markerHeight="10"
            orient="auto"
          >
            <path class="arrow-head" d="M0 0L8 4L0 8z" />
          </marker>
        </defs>
        {laid.arrows.map((arrow) => (
          <Edge key={`${arrow.from}-${arrow.to}`} arrow={arrow} from={byId.get(arrow.from)} />
        ))}
        {laid.places.map(({ id, x, y }) => {
          const card = byId.get(id);
          if (card === undefined) return null;
          return (
            <g key={id} transform={`translate(${x - BOX.width / 2} ${y - BOX.height / 2})`}>
              <Box card={card} marks={marks.get(id) ?? []} now={now} />
            </g>
          );
        })}
      </svg>
    </div>
  );
}

function Edge({ arrow, from }: { readonly arrow: Arrow; readonly from: OperatorCard | undefined }) {
  const path = arrow.points
    .map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`)
    .join("");
  const queued = from?.queuedBlocks ?? 0;
  const width = Math.min(7, 1.5 + Math.log2(1 + queued) * 0.7);
  return (
    <path
      class={`edge ${from?.ended === true ? "" : "flows"}`}
      d={path}
      stroke-width={width}
      marker-end="url(#arrow)"
    />
  );
}

interface BoxProps {
  readonly card: OperatorCard;
  readonly marks: readonly string[];
  readonly now: number;
}

/** Letters of a name for which a box has room; some more are drawn narrower. */
const ROOMY = 26;

/** The part of a name that fits into a box. */
function fitting(name: string): string {
  return name.length <= 30 ? name : `${name.slice(0, 29)}…`;
}

/** In few words. */
function partDone({ ended, share, done, tasks }: OperatorCard): string {
  return ended || share === null ? `${count(done)}/${count(tasks)} tasks` : wholePercent(share);
}

function Box({ card, marks, now }: BoxProps) {
  const key = `${card.job}/${card.id}`;
  const state = card.ended ? "done" : card.running > 0 ? "running" : "waiting";
  const name = fitting(titleOf(card.plan));
  const time = card.startedAt === null ? 0 : (card.endedAt ?? now) - card.startedAt;
  return (
    <a href={operatorAddress(key)} class={`op ${marks.length > 0 ? "marked" : ""}`}>
      <rect class="op-box" width={BOX.width} height={BOX.height} rx="8" />
      <rect width="5" height={BOX.height - 16} x="0" y="8" rx="2.5" fill={operatorColour(key)} />
      <text
        class="op-name"
        x="16"
        y="22"
        {...(name.length > ROOMY && { textLength: BOX.width - 24, lengthAdjust: "spacingAndGlyphs" })}
      >
        {name}
        <title>{titleOf(card.plan).slice(0, 1000)}</title>
      </text>
      <text class="op-fact" x="16" y="43">
        {count(card.rowsOut)} rows · {bytes(card.bytesOut)}
      </text>
      <text class="op-fact" x="16" y="60">
        memory {bytes(card.memoryNow)}, peak {bytes(card.peakMemory)}
      </text>
      <text class="op-fact" x="16" y="77">
        {state} {duration(time)} · {partDone(card)}
      </text>
      <rect class="op-track" x="16" y="89" width={BOX.width - 32} height="5" rx="2.5" />
      <rect x="16" y="89" width={(BOX.width - 32) * (card.share ?? 0)} height="5" rx="2.5" fill={operatorColour(key)} />
      {marks.map((word, index) => (
        <g key={word} transform={`translate(${BOX.width - 8 - 74 * (index + 1)} -8)`}>
          <rect class="op-mark" width="70" height="17" rx="8.5" />
          <text class="op-mark-text" x="35" y="12">
            {word}
          </text>
        </g>
      ))}
    </a>
  );
}
