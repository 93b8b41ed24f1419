/** The memory plan with the thresholds, and what is in use now. */
import { bytes, duration, percent, plural } from "../format.ts";
import { useLive } from "../live/index.ts";
import { Waiting } from "../parts/empty.tsx";
import { type Fact, Facts } from "../parts/facts.tsx";
import { Panel } from "../parts/panel.tsx";
import { stepWords } from "../parts/steps.ts";

/** Who may use how much memory, and what happens at each threshold. */
export function MemoryPlan() {
  const { session, totals } = useLive("session", "totals");
  const { nodeThreshold = null, memoryPlan = [] } = session ?? {};
  const ends = nodeThreshold === null ? "does not end workers" : `ends workers above ${percent(nodeThreshold)}`;
  return (
    <Panel title="Memory plan">
      {session === null ? (
        <Waiting what="the session" />
      ) : (
        <Facts
          facts={[
            ...memoryPlan,
            ["Steps of a worker", stepWords(session, totals?.workerLimit ?? null)],
            ["Monitor of the node", ends],
          ]}
        />
      )}
    </Panel>
  );
}

export function MemoryNow() {
  const { session, totals, workers } = useLive("session", "totals", "workers");
  if (session === null || totals === null) {
    return (
      <Panel title="Memory now">
        <Waiting what="the first reading of memory" />
      </Panel>
    );
  }
  const { node, store, kinds, program, supervisor } = totals;
  const living = [...workers.values()].filter(({ kind }) => kind === "worker").length;
  const wide = living < workers.size ? " and the wide kernel" : "";
  const facts: readonly Fact[] = [
    ["Node", node === null ? "not read yet" : `${bytes(node.used)} of ${bytes(node.total)} in use`],
    ["Store", `${bytes(store.resident)} of ${bytes(store.capacity)} in use, ${bytes(store.onDisk)} on disk`],
    ["Workers", `${plural(living, "worker")}${wide}, ${bytes(kinds.process)} with their blocks`],
    ["Program", `${bytes(program)}, private`],
    ["Supervisor", `${bytes(supervisor)}, private`],
    ["Session", `has lasted ${duration(session.at)}`],
  ];
  return (
    <Panel title="Memory now">
      <Facts facts={facts} />
    </Panel>
  );
}
