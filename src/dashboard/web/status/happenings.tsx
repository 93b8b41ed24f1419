/** The newest lines of what happened. The page "Events" has the rest. */
import { useEpoch, useLive } from "../live/index.ts";
import { Empty } from "../parts/empty.tsx";
import { HappenedList } from "../parts/happened-list.tsx";
import { Panel } from "../parts/panel.tsx";
import { address } from "../route.ts";

const NEWEST = 40;

export function Happenings() {
  const { happened } = useLive("happened");
  const epoch = useEpoch();
  return (
    <Panel title="Recent events" aside={<a href={address("events")}>All events</a>}>
      {happened.length === 0 ? (
        <Empty title="Nothing of note has happened.">Spills, pauses, kills, retries and notices are listed here.</Empty>
      ) : (
        <HappenedList label="Recent events" lines={happened.slice(-NEWEST).reverse()} epoch={epoch} />
      )}
    </Panel>
  );
}
