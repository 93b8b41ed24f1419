/**
 * A heap profile: the flame graph, drawn as `spillway flamegraph` draws it, and the lines that hold the most memory.
 */
import { useEffect, useRef } from "preact/hooks";
import { drawFlame, FLAME_CSS } from "../../../profile/drawing/flame-draw.ts";
import type { FlameProfile } from "../../api.ts";
import { short } from "../format.ts";
import { Empty } from "../parts/empty.tsx";
import { Panel } from "../parts/panel.tsx";
import { LargestLines } from "./largest-lines.tsx";

interface FlamePanelProps {
  readonly name: string;
  readonly profile: FlameProfile;
  readonly download: string;
}

const sheet = new CSSStyleSheet();
sheet.replaceSync(FLAME_CSS);

export function FlamePanel({ name, profile, download }: FlamePanelProps) {
  const [view] = profile.views;
  const link = (
    <a href={download} download={name}>
      Download
    </a>
  );
  if (view === undefined || view.root.total <= 0) {
    return (
      <Panel title={short(profile.title, 160)} aside={link}>
        <Empty title="The profile is empty.">No allocation was sampled while it ran.</Empty>
      </Panel>
    );
  }
  return (
    <>
      <Panel title={short(profile.title, 160)} aside={link}>
        <Drawing profile={profile} />
        <FlameKey />
      </Panel>
      <Panel title={`Lines with the most memory: ${view.name}`}>
        <LargestLines root={view.root} />
      </Panel>
    </>
  );
}

function Drawing({ profile }: { readonly profile: FlameProfile }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
    return box.current === null ? undefined : drawFlame(box.current, profile);
  }, [profile]);
  return <div ref={box} />;
}

const KINDS: readonly (readonly [string, string])[] = [
  ["code", "functions"],
  ["heap", "JavaScript objects"],
  ["buffer", "buffers outside the heap"],
  ["block", "blocks"],
  ["engine", "the engine"],
  ["unattributed", "unattributed"],
];

function FlameKey() {
  return (
    <ul class="key flame-key">
      {KINDS.map(([kind, words]) => (
        <li key={kind}>
          <span class={`swatch flame-of-${kind}`} /> {words}
        </li>
      ))}
    </ul>
  );
}
