/**
 * A box with exact figures beside the pointer or the focus. Screen readers find the same figures in the page itself.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface Shown {
  readonly x: number;
  readonly y: number;
  readonly content: ComponentChildren;
}

let show: (next: Shown | null) => void = () => {};

export function showTip(x: number, y: number, content: ComponentChildren): void {
  show({ x, y, content });
}

export function showTipAt(element: Element, content: ComponentChildren): void {
  const { left, bottom } = element.getBoundingClientRect();
  show({ x: left, y: bottom, content });
}

export function hideTip(): void {
  show(null);
}

const GAP = 12;

export function Tip() {
  const [shown, setShown] = useState<Shown | null>(null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    show = setShown;
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && setShown(null);
    addEventListener("keydown", onKey);
    addEventListener("hashchange", hideTip);
    return () => {
      removeEventListener("keydown", onKey);
      removeEventListener("hashchange", hideTip);
    };
  }, []);
  useLayoutEffect(() => {
    if (box.current === null || shown === null) return;
    const { width, height } = box.current.getBoundingClientRect();
    const left = Math.max(4, Math.min(shown.x + GAP, innerWidth - width - 8));
    const below = shown.y + GAP;
    const top = below + height > innerHeight - 4 ? Math.max(4, shown.y - height - GAP) : below;
    box.current.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }, [shown]);
  if (shown === null) return null;
  return (
    <div ref={box} class="tip" aria-hidden="true">
      {shown.content}
    </div>
  );
}

export function TipRows({ title, rows }: { readonly title: string; readonly rows: readonly TipRow[] }) {
  return (
    <>
      <p class="tip-title">{title}</p>
      <dl>
        {rows.map(([name, value, swatch]) => (
          <div key={name}>
            <dt>
              {swatch !== undefined && <span class={`swatch ${swatch}`} />}
              {name}
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

/** Name, value, and the class of the row's swatch. */
export type TipRow = readonly [name: string, value: string, swatch?: string];
