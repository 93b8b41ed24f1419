/**
 * The server's stream. What arrives is put into the state at once, so that it does not pile up on a hidden page.
 * Listeners are told at most ten times a second, before a frame is drawn.
 */
import type { Patch, Snapshot } from "../../api.ts";
import { LiveState, type Topic } from "./state.ts";

export type Connection = "connecting" | "open" | "lost";
type Listener = () => void;

const ALL: readonly Topic[] = ["session", "totals", "workers", "jobs", "operators", "series", "happened"];
const BETWEEN_FRAMES = 100;
const BEFORE_RETRY = 2000;

export class Live {
  readonly state = new LiveState();
  connection: Connection = "connecting";
  readonly #listeners = new Map<Listener, readonly Topic[]>();
  readonly #changed = new Set<Topic>();
  #isScheduled = false;
  #toldAt = 0;

  open(): void {
    const source = new EventSource("api/stream");
    source.addEventListener("snapshot", (event) => {
      const snapshot: Snapshot = JSON.parse(event.data);
      this.state.replace(snapshot);
      this.connection = "open";
      this.#tell(ALL);
    });
    source.addEventListener("patch", (event) => {
      const patch: Patch = JSON.parse(event.data);
      this.#tell(this.state.apply(patch));
    });
    source.addEventListener("error", () => {
      this.connection = "lost";
      this.#tell(["session"]);
      if (this.state.session?.status === "ended") return source.close();
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(() => this.open(), BEFORE_RETRY);
    });
  }

  /** Returns the function that stops listening. */
  listen(topics: readonly Topic[], listener: Listener): () => void {
    this.#listeners.set(listener, topics);
    return () => this.#listeners.delete(listener);
  }

  #tell(topics: Iterable<Topic>): void {
    for (const topic of topics) this.#changed.add(topic);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const wait = this.#toldAt + BETWEEN_FRAMES - performance.now();
    setTimeout(() => requestAnimationFrame(() => this.#flush()), Math.max(0, wait));
  }

  #flush(): void {
    this.#isScheduled = false;
    this.#toldAt = performance.now();
    const changed = new Set(this.#changed);
    this.#changed.clear();
    for (const [listener, topics] of [...this.#listeners]) {
      if (topics.some((topic) => changed.has(topic))) listener();
    }
  }
}
