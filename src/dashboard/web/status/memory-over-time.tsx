/** The session's memory by kind, over the whole series. */
import { type Curve, SeriesChart } from "../chart/index.ts";
import { bytes } from "../format.ts";
import { useEpoch, useLive } from "../live/index.ts";
import { Waiting } from "../parts/empty.tsx";
import { Panel } from "../parts/panel.tsx";

const CURVES: readonly Curve[] = [
  { of: "managed", label: "managed", colour: "blue-1", isArea: true },
  { of: "unmanaged", label: "unmanaged", colour: "blue-2", isArea: true },
  { of: "recent", label: "unmanaged, recent", colour: "blue-3", isArea: true },
  { of: "spilled", label: "spilled, on disk", colour: "grey-1", isArea: true },
];

export function MemoryOverTime() {
  const { series } = useLive("series");
  const epoch = useEpoch();
  const memory = series.get("memory");
  return (
    <Panel title="Memory over time">
      {memory === undefined ? (
        <Waiting what="the first reading of memory" />
      ) : (
        <SeriesChart label="Memory of workers by kind" series={memory} curves={CURVES} epoch={epoch} format={bytes} />
      )}
    </Panel>
  );
}
