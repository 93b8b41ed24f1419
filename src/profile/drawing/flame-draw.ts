/**
 * Draws a heap profile as a flame graph into an element: views, memory curve, zoom and search, with mouse and keyboard.
 * The module runs in browsers and has no dependencies: the dashboard imports it, and the HTML file contains it. Text is
 * only ever set as text. Styles are in `FLAME_CSS`; a script sets places and widths, which strict policies allow.
 */
import { drawCurve } from "./curve.ts";

/** The same shape as the package's `FlameProfile`. */
export interface DrawnProfile {
  readonly title: string;
  readonly views: readonly { readonly name: string; readonly root: DrawnNode }[];
  readonly curve: readonly (readonly [number, number])[];
  /** For each view, its time on the curve in milliseconds. */
  readonly moments?: readonly number[];
}

interface DrawnNode {
  readonly name: string;
  readonly place: string | null;
  readonly kind: string;
  readonly total: number;
  readonly own: number;
  readonly children: readonly DrawnNode[];
}

export const FLAME_CSS = `
.flame { font: 13px/1.4 system-ui, sans-serif; color: var(--flame-text); --flame-text: #1d2430; --flame-back: #fff;
  --flame-line: #c9d0da; --flame-mark: #7a1fa2; --flame-code: #f3b562; --flame-heap: #e8c9a0; --flame-buffer: #f28b6b;
  --flame-block: #7fb3e6; --flame-engine: #b9c2cf; --flame-unattributed: #dfe3e8; background: var(--flame-back); }
@media (prefers-color-scheme: dark) { .flame { --flame-text: #e6eaf0; --flame-back: #171b22; --flame-line: #3a4350;
  --flame-mark: #d9a3ff; --flame-code: #8f5f14; --flame-heap: #6d5636; --flame-buffer: #973f23; --flame-block: #2b5f94;
  --flame-engine: #465061; --flame-unattributed: #353c47; } }
.flame-bar { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin: 8px 0; }
.flame-bar button, .flame-bar input { font: inherit; color: inherit; background: transparent;
  border: 1px solid var(--flame-line); border-radius: 4px; padding: 3px 9px; }
.flame-bar button[aria-pressed="true"] { border-color: var(--flame-mark); box-shadow: inset 0 -2px var(--flame-mark); }
.flame-curve { display: block; width: 100%; height: 70px; border: 1px solid var(--flame-line); border-radius: 4px; }
.flame-curve path { fill: none; stroke: var(--flame-block); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.flame-curve line { stroke: var(--flame-mark); vector-effect: non-scaling-stroke; stroke-dasharray: 3 3; }
.flame-graph { position: relative; overflow: hidden; }
.flame-node { position: absolute; height: 19px; box-sizing: border-box; overflow: hidden; white-space: nowrap;
  text-overflow: ellipsis; padding: 0 4px; border: 1px solid var(--flame-back); border-radius: 3px; cursor: pointer;
  background: var(--flame-code); }
.flame-node:focus { outline: 2px solid var(--flame-mark); outline-offset: -2px; z-index: 1; }
.flame-node.is-found { box-shadow: inset 0 0 0 2px var(--flame-mark); }
.flame-node.is-above { opacity: 0.85; }
.flame-node.is-heap { background: var(--flame-heap); } .flame-node.is-buffer { background: var(--flame-buffer); }
.flame-node.is-block { background: var(--flame-block); } .flame-node.is-engine { background: var(--flame-engine); }
.flame-node.is-unattributed { background: var(--flame-unattributed); }
.flame-says { min-height: 3em; margin: 8px 0; overflow-wrap: anywhere; }
`;

const ROW = 20;
/** Narrower nodes are not drawn; the line below the graph counts them. */
const NARROWEST = 0.0005;

/** A node on the screen, with its neighbours. */
interface Drawn {
  readonly node: DrawnNode;
  readonly parent: Drawn | null;
  readonly element: HTMLElement;
  readonly children: Drawn[];
}

function sizeText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let [size, unit] = [bytes, 0];
  for (; size >= 1024 && unit < units.length - 1; unit++) size /= 1024;
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** Empties `host` and draws into it. Returns a function that removes the drawing. */
export function drawFlame(host: HTMLElement, profile: DrawnProfile): () => void {
  const drawing = new Drawing(host, profile);
  drawing.show(0);
  return () => host.replaceChildren();
}

class Drawing {
  readonly #graph: HTMLElement;
  readonly #says: HTMLElement;
  readonly #search: HTMLInputElement;
  readonly #buttons: readonly HTMLButtonElement[];
  readonly #curve: { select(view: number): void };
  readonly #path = new Map<DrawnNode, DrawnNode>();
  #root: DrawnNode;
  #zoomed: DrawnNode;
  readonly #drawn = new Map<HTMLElement, Drawn>();

  constructor(
    host: HTMLElement,
    private readonly profile: DrawnProfile,
  ) {
    const [first] = profile.views;
    this.#root = first?.root ?? { name: "nothing", place: null, kind: "code", total: 0, own: 0, children: [] };
    this.#zoomed = this.#root;
    const bar = element("div", "flame-bar");
    this.#buttons = profile.views.map(({ name, root }, i) => {
      const button = element("button", "");
      button.type = "button";
      button.textContent = `${name}: ${sizeText(root.total)}`;
      button.addEventListener("click", () => this.show(i));
      return button;
    });
    this.#search = element("input", "");
    this.#search.type = "search";
    this.#search.placeholder = "Search ( / )";
    this.#search.setAttribute("aria-label", "Search functions and files");
    this.#search.addEventListener("input", () => this.#mark());
    bar.append(...this.#buttons, this.#search);
    this.#graph = element("div", "flame-graph");
    this.#graph.setAttribute("role", "tree");
    this.#graph.setAttribute("aria-label", `${profile.title}: memory by function`);
    this.#says = element("div", "flame-says");
    this.#says.setAttribute("aria-live", "polite");
    const curve = drawCurve(profile, (view) => this.show(view));
    this.#curve = curve;
    const frame = element("div", "flame");
    frame.append(...(curve.element === null ? [] : [curve.element]), bar, this.#graph, this.#says);
    host.replaceChildren(frame);
    this.#graph.addEventListener("click", (event) => this.#clicked(event));
    this.#graph.addEventListener("focusin", (event) => this.#tell(event.target));
    this.#graph.addEventListener("mouseover", (event) => this.#tell(event.target));
    frame.addEventListener("keydown", (event) => this.#pressed(event));
  }

  show(view: number): void {
    this.#root = this.profile.views[view]?.root ?? this.#root;
    for (const [i, button] of this.#buttons.entries()) button.setAttribute("aria-pressed", String(i === view));
    this.#curve.select(view);
    this.#path.clear();
    remember(this.#root, this.#path);
    this.#draw(this.#root);
  }

  #draw(zoomed: DrawnNode): void {
    this.#zoomed = zoomed;
    this.#drawn.clear();
    this.#graph.replaceChildren();
    const above: DrawnNode[] = [];
    for (let at = this.#path.get(zoomed); at !== undefined; at = this.#path.get(at)) above.unshift(at);
    let parent: Drawn | null = null;
    for (const [depth, node] of above.entries()) parent = this.#add(node, parent, { depth, left: 0, width: 1 }, true);
    const deepest = this.#addAll(zoomed, parent, { depth: above.length, left: 0, width: 1 });
    this.#graph.style.height = `${(deepest + 1) * ROW}px`;
    this.#mark();
    const first = [...this.#drawn.values()].find(({ node }) => node === zoomed);
    first?.element.setAttribute("tabindex", "0");
  }

  /** Returns the depth of the lowest row. */
  #addAll(node: DrawnNode, parent: Drawn | null, place: Place): number {
    const drawn = this.#add(node, parent, place, false);
    let deepest = place.depth;
    let { left } = place;
    for (const child of [...node.children].sort((a, b) => b.total - a.total)) {
      const width = node.total === 0 ? 0 : (place.width * child.total) / node.total;
      if (width < NARROWEST) break;
      deepest = Math.max(deepest, this.#addAll(child, drawn, { depth: place.depth + 1, left, width }));
      left += width;
    }
    return deepest;
  }

  #add(node: DrawnNode, parent: Drawn | null, { depth, left, width }: Place, isAbove: boolean): Drawn {
    const one = element("div", `flame-node is-${/^[a-z]+$/.test(node.kind) ? node.kind : "code"}`);
    if (isAbove) one.classList.add("is-above");
    const file = node.place?.slice(node.place.lastIndexOf("/") + 1) ?? "";
    one.textContent = `${node.name} ${file}`;
    one.setAttribute("role", "treeitem");
    one.setAttribute("aria-level", String(depth + 1));
    // The label begins with the visible text, which people who use speech input say.
    one.setAttribute("aria-label", `${one.textContent.trim()}: ${this.#figures(node)}`);
    one.setAttribute("tabindex", "-1");
    one.style.left = `${left * 100}%`;
    one.style.width = `${width * 100}%`;
    one.style.top = `${depth * ROW}px`;
    const drawn: Drawn = { node, parent, element: one, children: [] };
    parent?.children.push(drawn);
    this.#drawn.set(one, drawn);
    this.#graph.append(one);
    return drawn;
  }

  #describe(node: DrawnNode): string {
    return `${node.name}${node.place === null ? "" : `, ${node.place}`}: ${this.#figures(node)}`;
  }

  #figures({ total, own }: DrawnNode): string {
    const share = this.#root.total === 0 ? 0 : (100 * total) / this.#root.total;
    const self = own === total || own === 0 ? "" : `, ${sizeText(own)} of it in its own objects`;
    return `${sizeText(total)} (${share.toFixed(1)} %)${self}`;
  }

  #mark(): void {
    const wanted = this.#search.value.trim().toLowerCase();
    let found = 0;
    for (const { node, element: one } of this.#drawn.values()) {
      const isFound = wanted !== "" && `${node.name} ${node.place ?? ""}`.toLowerCase().includes(wanted);
      one.classList.toggle("is-found", isFound);
      if (isFound) found += 1;
    }
    if (wanted !== "") this.#says.textContent = `${found} found`;
    else this.#says.textContent = this.#describe(this.#zoomed);
  }

  #tell(target: EventTarget | null): void {
    const drawn = target instanceof HTMLElement ? this.#drawn.get(target) : undefined;
    if (drawn !== undefined) this.#says.textContent = this.#describe(drawn.node);
  }

  #clicked({ target }: Event): void {
    const drawn = target instanceof HTMLElement ? this.#drawn.get(target) : undefined;
    if (drawn !== undefined) this.#zoom(drawn.node);
  }

  #zoom(node: DrawnNode): void {
    this.#draw(node);
    [...this.#drawn.values()].find((one) => one.node === node)?.element.focus();
  }

  #pressed(event: KeyboardEvent): void {
    if (event.target === this.#search) {
      if (event.key === "Escape") this.#search.blur();
      return;
    }
    if (event.key === "/") {
      event.preventDefault();
      this.#search.focus();
      return;
    }
    const drawn = event.target instanceof HTMLElement ? this.#drawn.get(event.target) : undefined;
    if (drawn === undefined) return;
    const next = this.#nextOf(drawn, event.key);
    if (next === undefined) return;
    event.preventDefault();
    if (next !== null) next.element.focus();
  }

  /** The node that a key leads to. Null: the key did something else. Undefined: the key means nothing here. */
  #nextOf({ node, parent, children }: Drawn, key: string): Drawn | null | undefined {
    const beside = parent?.children ?? [];
    const at = beside.findIndex((one) => one.node === node);
    switch (key) {
      case "ArrowUp":
        return parent;
      case "ArrowDown":
        return children[0] ?? null;
      case "ArrowLeft":
        return beside[at - 1] ?? null;
      case "ArrowRight":
        return beside[at + 1] ?? null;
      case "Enter":
      case " ":
        this.#zoom(node);
        return null;
      case "Escape":
      case "Home":
        this.#zoom(this.#root);
        return null;
      default:
        return undefined;
    }
  }
}

interface Place {
  readonly depth: number;
  /** Shares of the full width. */
  readonly left: number;
  readonly width: number;
}

function element<Name extends keyof HTMLElementTagNameMap>(name: Name, className: string): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  if (className !== "") made.className = className;
  return made;
}

/** Records the parent of each node. */
function remember(node: DrawnNode, parents: Map<DrawnNode, DrawnNode>): void {
  for (const child of node.children) {
    parents.set(child, node);
    remember(child, parents);
  }
}
