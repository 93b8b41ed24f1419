/** The observer's own end: keeps a state that follows the session, by the same reducer that reads files. */
import { connect } from "node:net";
import { type RecordedEvent, Wire } from "../protocol/index.ts";
import { apply } from "./apply.ts";
import type { ObserverMessage, ToObserver } from "./observing.ts";
import { emptyState, type SessionState, stateOf } from "./state.ts";

export interface Watching {
  /** What the session looks like, as far as it has been told. */
  readonly state: SessionState;
  /** Events that this observer was too slow for, all in all. */
  readonly dropped: number;
  close(): void;
}

export interface WatchHandlers {
  /** There is a new state, and the events that made it of the last one; none after a snapshot. */
  changed?(events: readonly RecordedEvent[]): void;
  closed?(error: Error | null): void;
}

/** `socket`: the session's; see `socketPath`. */
export function observe(socket: string, token: string, { changed, closed }: WatchHandlers = {}): Watching {
  const wire = new Wire<ToObserver, ObserverMessage>(connect(socket));
  let state = emptyState();
  let dropped = 0;
  wire.onMessage((message) => {
    if (message.type === "snapshot") {
      state = stateOf(message.state);
      dropped += message.dropped;
      changed?.([]);
    } else {
      for (const event of message.events) apply(state, event);
      changed?.(message.events);
    }
  });
  wire.onClose((error) => closed?.(error));
  wire.send({ type: "observe", token });
  return {
    get state() {
      return state;
    },
    get dropped() {
      return dropped;
    },
    close: () => wire.close(),
  };
}
