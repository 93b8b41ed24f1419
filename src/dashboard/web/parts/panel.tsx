/** A section of a page with its heading, and room beside the heading. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface PanelProps {
  readonly title: string;
  /** Shown beside the heading. */
  readonly aside?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Panel({ title, aside, class: name = "", children }: PanelProps) {
  const id = useId();
  return (
    <section class={`panel ${name}`} aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
        {aside !== undefined && <div class="panel-aside">{aside}</div>}
      </div>
      {children}
    </section>
  );
}
