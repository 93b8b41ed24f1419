/**
 * Lines of what happened, the newest first. A word and a sign show the severity, so that it does not depend on colour.
 */
import type { Happened } from "../../api.ts";
import { clock, short } from "../format.ts";

const SIGNS: Readonly<Record<Happened["severity"], string>> = { info: "·", warning: "▲", error: "■" };

interface HappenedListProps {
  readonly lines: readonly Happened[];
  readonly epoch: number;
  readonly label: string;
}

export function HappenedList({ lines, epoch, label }: HappenedListProps) {
  return (
    <ol class="happened" aria-label={label} tabIndex={0}>
      {lines.map((line, index) => (
        <li key={index} class={line.severity}>
          <time>{clock(epoch, line.at)}</time>
          <span class="sign" aria-hidden="true">
            {SIGNS[line.severity]}
          </span>
          {line.severity !== "info" && <span class="sr">{line.severity}: </span>}
          <bdi>{short(line.text, 600)}</bdi>
        </li>
      ))}
    </ol>
  );
}
