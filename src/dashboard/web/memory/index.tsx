/** Where the memory is: on the node, in the session's processes, by operator, and in the store. */

import type { OperatorCard } from "../../api.ts";
import { titleOf } from "../../model/operator-title.ts";
import { type Curve, SeriesChart } from "../chart/index.ts";
import { bytes, count } from "../format.ts";
import { useEpoch, useLive } from "../live/index.ts";
import { operatorColour } from "../palette.ts";
import { Empty, Waiting } from "../parts/empty.tsx";
import { Panel } from "../parts/panel.tsx";
import { Blocks } from "./blocks.tsx";
import { MemoryNow, MemoryPlan } from "./plan.tsx";

const PROCESSES: readonly Curve[] = [
  { of: "shared", label: "store in memory (shared, once)", colour: "blue-1", isArea: true },
  { of: "workers", label: "workers, private", colour: "blue-2", isArea: true },
  { of: "program", label: "program", colour: "violet-1", isArea: true },
  { of: "supervisor", label: "supervisor", colour: "violet-2", isArea: true },
];
const NODE: readonly Curve[] = [
  { of: "used", label: "in use", colour: "blue-1", isArea: true },
  { of: "total", label: "all there is", colour: "muted", isDashed: true },
];
const STORE: readonly Curve[] = [
  { of: "resident", label: "in memory", colour: "blue-1", isArea: true },
  { of: "onDisk", label: "on disk", colour: "grey-1", isArea: true },
];
const FLOW: readonly Curve[] = [
  { of: "spilled", label: "to disk", colour: "orange-1" },
  { of: "restored", label: "from disk", colour: "orange-2", isDashed: true },
  { of: "bytes", label: "made by tasks", colour: "blue-1" },
];
const DEATHS: readonly Curve[] = [
  { of: "memoryDeaths", label: "ended by memory", colour: "red-1", isStepped: true },
  { of: "oomRetries", label: "retries after running out", colour: "orange-1", isStepped: true, isDashed: true },
  { of: "otherDeaths", label: "other deaths", colour: "violet-1", isStepped: true },
];

export function Memory() {
  return (
    <>
      <div class="grid two">
        <MemoryPlan />
        <MemoryNow />
        <OverTime title="Session: every process, shared memory once" of="memory" curves={PROCESSES} format={bytes} />
        <OverTime title="Node" of="node" curves={NODE} format={bytes} />
        <OverTime title="Store" of="store" curves={STORE} format={bytes} />
        <OverTime title="Bytes each second" of="flow" curves={FLOW} format={(value) => `${bytes(value)}/s`} />
        <OperatorsOverTime />
        <DeathsOverTime />
      </div>
      <Blocks />
    </>
  );
}

interface OverTimeProps {
  readonly title: string;
  readonly of: string;
  readonly curves: readonly Curve[];
  readonly format: (value: number) => string;
}

function OverTime({ title, of, curves, format }: OverTimeProps) {
  const { series } = useLive("series");
  const epoch = useEpoch();
  const buffer = series.get(of);
  return (
    <Panel title={title}>
      {buffer === undefined ? (
        <Waiting what="the first reading" />
      ) : (
        <SeriesChart label={title} series={buffer} curves={curves} epoch={epoch} format={format} height={190} />
      )}
    </Panel>
  );
}

function DeathsOverTime() {
  const { series, totals } = useLive("series", "totals");
  const epoch = useEpoch();
  const buffer = series.get("deaths");
  const all = (totals?.memoryDeaths ?? 0) + (totals?.oomRetries ?? 0) + (totals?.otherDeaths ?? 0);
  const title = "Ends of workers and retries so far";
  return (
    <Panel title={title}>
      {buffer === undefined || all === 0 ? (
        <Empty title="No worker has died, and no task has run out of memory.">
          Workers that memory ended, workers that died otherwise, and retries after running out of memory are counted
          here over time.
        </Empty>
      ) : (
        <SeriesChart label={title} series={buffer} curves={DEATHS} epoch={epoch} format={count} height={190} />
      )}
    </Panel>
  );
}

function operatorLabel(card: OperatorCard | undefined, key: string): string {
  return (card === undefined ? key : titleOf(card.plan)).slice(0, 60);
}

function OperatorsOverTime() {
  const { series, operators } = useLive("series", "operators");
  const epoch = useEpoch();
  const buffer = series.get("operators");
  const curves = [...(buffer?.values.keys() ?? [])].map((key) => ({
    of: key,
    label: operatorLabel(operators.get(key), key),
    colour: operatorColour(key),
  }));
  return (
    <Panel title="Memory by operator">
      {buffer === undefined || curves.length === 0 ? (
        <Empty title="No task has run.">
          The private memory of the workers that run tasks of each operator is drawn here, the fullest operators first.
        </Empty>
      ) : (
        <SeriesChart
          label="Private memory by operator"
          series={buffer}
          curves={curves}
          epoch={epoch}
          format={bytes}
          height={190}
        />
      )}
    </Panel>
  );
}
