/**
 * "Bytes stored": a bar for the session and one per worker. All workers share a scale; the session has its own. For
 * screen readers, the bars are a table.
 */
import { useMemo, useRef, useState } from "preact/hooks";
import type { WorkerCard } from "../../api.ts";
import { bytes, plural } from "../format.ts";
import { useLive } from "../live/index.ts";
import { Empty, Waiting } from "../parts/empty.tsx";
import { Panel } from "../parts/panel.tsx";
import { hideTip, showTip, showTipAt, TipRows } from "../parts/tip.tsx";
import { address } from "../route.ts";
import { type Bar, beyond, type Steps, scaleOf, sessionBar, stepsOf, tipRows, workerBar } from "./bars.ts";

/** With more bars than this, bars are thinner. */
const MANY = 24;
/** With this many bars or fewer, bars are thicker. */
const FEW = 8;

export function BytesStored() {
  const { session, totals, workers } = useLive("totals", "workers", "session");
  const living = [...workers.values()].filter(isAlive).sort((a, b) => a.id - b.id);
  const steps = useMemo(() => stepsOf(session), [session?.thresholds]);
  return (
    <Panel title="Bytes stored" class="stored" aside={<KindsLegend />}>
      {totals === null ? (
        <Waiting what="the first reading of memory" />
      ) : (
        <Bars all={sessionBar(totals, living)} workers={living} steps={steps} />
      )}
    </Panel>
  );
}

function isAlive({ phase, kinds }: WorkerCard): boolean {
  return phase !== "dead" && phase !== "gone" && kinds !== null;
}

interface BarsProps {
  readonly all: Bar;
  readonly workers: readonly WorkerCard[];
  readonly steps: Steps;
}

function Bars({ all, workers, steps }: BarsProps) {
  const [focused, setFocused] = useState(0);
  const body = useRef<HTMLTableSectionElement>(null);
  const bars = workers.map((worker) => workerBar(worker, steps));
  const scale = scaleOf(bars);
  const outside = beyond(bars, scale);
  const focusable = Math.min(focused, bars.length);

  const onKeyDown = (event: KeyboardEvent) => {
    const last = bars.length;
    const next = { ArrowDown: focusable + 1, ArrowUp: focusable - 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setFocused(Math.max(0, Math.min(last, next)));
    body.current?.querySelectorAll("a")[Math.max(0, Math.min(last, next))]?.focus();
  };
  return (
    <div class={`bars ${bars.length > MANY ? "many" : bars.length <= FEW ? "few" : ""}`}>
      <table>
        <caption class="sr">Memory of the session and of {plural(bars.length, "worker")}, by kind</caption>
        <thead class="sr">
          <tr>
            {["Of", "Bar", "Process", "Managed", "Unmanaged", "Unmanaged, recent", "Spilled", "Limit", "State"].map(
              (head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={onKeyDown} onMouseLeave={hideTip}>
          <BarRow bar={all} scale={scaleOf([all])} isReachable={focusable === 0} onFocus={() => setFocused(0)} />
          {bars.map((bar, index) => (
            <BarRow
              key={bar.id}
              bar={bar}
              scale={scale}
              isReachable={focusable === index + 1}
              onFocus={() => setFocused(index + 1)}
            />
          ))}
        </tbody>
      </table>
      {outside !== null && <p class="left-out">{outside}</p>}
      {bars.length === 0 && (
        <Empty title="No worker runs.">Each worker has a bar here, from its start to its end.</Empty>
      )}
    </div>
  );
}

interface BarRowProps {
  readonly bar: Bar;
  readonly scale: number;
  readonly isReachable: boolean;
  onFocus(): void;
}

function BarRow({ bar, scale, isReachable, onFocus }: BarRowProps) {
  const { id, name, colour, state, kinds, limit } = bar;
  const width = (size: number) => ({ width: `${((size / Math.max(1, scale)) * 100).toFixed(2)}%` });
  const left = (size: number) => ({ left: `${((size / Math.max(1, scale)) * 100).toFixed(2)}%` });
  const content = () => <TipRows title={name} rows={tipRows(bar)} />;
  return (
    <tr
      class={id === "session" ? "of-session" : ""}
      onMouseMove={(event) => showTip(event.clientX, event.clientY, content())}
    >
      <th scope="row">
        <a
          href={id === "session" ? address("memory") : address("workers", id)}
          tabIndex={isReachable ? 0 : -1}
          onFocus={(event) => {
            onFocus();
            showTipAt(event.currentTarget, content());
          }}
          onBlur={hideTip}
        >
          {name}
        </a>
      </th>
      <td class="track-cell" aria-hidden="true">
        <div class={`track ${colour}`} data-colour={colour}>
          {limit !== null && <span class="limit" style={width(Math.min(limit, scale))} />}
          <span class="part managed" style={width(kinds.managed)} />
          <span class="part unmanaged" style={width(kinds.unmanaged)} />
          <span class="part recent" style={width(kinds.recent)} />
          <span class="part spilled" style={width(kinds.spilled)} />
          {bar.marks.map(
            (mark) => mark.at <= scale && <span key={mark.name} class={`mark-at ${mark.name}`} style={left(mark.at)} />,
          )}
        </div>
      </td>
      <td class="number shown">
        {bytes(kinds.process)}
        <span class="state-word">{colour === "blue" ? "" : colour === "red" ? " ■" : " ▲"}</span>
      </td>
      {[kinds.managed, kinds.unmanaged, kinds.recent, kinds.spilled].map((size, index) => (
        <td key={index} class="sr">
          {bytes(size)}
        </td>
      ))}
      <td class="sr">{limit === null ? "none" : bytes(limit)}</td>
      <td class="sr">{state}</td>
    </tr>
  );
}

function KindsLegend() {
  return (
    <ul class="key">
      <li>
        <span class="swatch blue managed" /> managed
      </li>
      <li>
        <span class="swatch blue unmanaged" /> unmanaged
      </li>
      <li>
        <span class="swatch blue recent" /> recent
      </li>
      <li>
        <span class="swatch spilled" /> spilled
      </li>
      <li>
        <span class="swatch orange managed" /> ▲ may spill
      </li>
      <li>
        <span class="swatch red managed" /> ■ paused
      </li>
    </ul>
  );
}
