/** What the colours and marks of the task stream mean. */
import type { TaskStream } from "../../api.ts";
import { plural } from "../format.ts";
import { OperatorName } from "../parts/operator-name.tsx";

const SHOWN = 24;

export function StreamLegend({ stream }: { readonly stream: TaskStream }) {
  const used = new Set(stream.lanes.flatMap(({ spans }) => spans.map(([, , colour]) => colour)));
  const seen = stream.operators.filter((_operator, index) => used.has(index));
  return (
    <ul class="key stream-key" aria-label="Colours of the task stream">
      {seen.slice(0, SHOWN).map(({ key, name }) => (
        <li key={key}>
          <OperatorName name={name} of={key} />
        </li>
      ))}
      {seen.length > SHOWN && <li>and {plural(seen.length - SHOWN, "more operator")}</li>}
      <li>
        <span class="swatch orange managed" /> written to disk
      </li>
      <li>
        <span class="swatch orange unmanaged" /> read from disk
      </li>
      <li>
        <span class="swatch spilled" /> moved
      </li>
      <li>
        <span class="swatch red managed crossed" /> × worker ended
      </li>
      <li>
        <span class="swatch failed-edge" /> failed
      </li>
      <li>
        <span class="swatch striped" /> run again
      </li>
    </ul>
  );
}
