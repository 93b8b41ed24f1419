/** The findings of `diagnose()`, each with its numbered remedies. */
import type { Finding } from "../../api.ts";
import { Empty } from "./empty.tsx";

const SIGNS: Readonly<Record<Finding["severity"], string>> = { info: "·", warning: "▲", error: "■" };

export function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  if (findings.length === 0) {
    return (
      <Empty title="Nothing stands out.">
        What slows this operator down or fills memory is named here, with remedies.
      </Empty>
    );
  }
  return (
    <ul class="findings">
      {findings.map((finding) => (
        <li key={`${finding.kind}${finding.text}`} class={finding.severity}>
          <p>
            <span class="sign" aria-hidden="true">
              {SIGNS[finding.severity]}
            </span>
            <span class="sr">{finding.severity}: </span>
            <bdi>{finding.text.slice(0, 4000)}</bdi>
          </p>
          <Remedies remedies={finding.remedies} />
        </li>
      ))}
    </ul>
  );
}

export function Remedies({ remedies }: { readonly remedies: readonly string[] }) {
  if (remedies.length === 0) return null;
  return (
    <ol class="remedies">
      {remedies.map((remedy) => (
        <li key={remedy}>
          <bdi>{remedy.slice(0, 4000)}</bdi>
        </li>
      ))}
    </ol>
  );
}
