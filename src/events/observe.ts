/**
 * The observer's end of the connection: follows a session and keeps its state, with the reducer that also reads files.
 */
import { fromWire, SessionClosedError } from "../errors/index.ts";
import { connectInside } from "../files/index.ts";
import { type RecordedEvent, SOCKET, Wire, type WorkerId } from "../protocol/index.ts";
import { apply } from "./apply.ts";
import type { ObserverMessage, ToObserver } from "./observing.ts";
import { emptyState, type SessionState, stateOf } from "./state.ts";

interface Watching {
  /** The session's state, as far as this observer has been told. */
  readonly state: SessionState;
  /** All events so far that this observer was too slow for. */
  readonly dropped: number;
  /** Profiles a worker. Resolves to the file's name in the session's profile directory. */
  profile(worker: number, seconds: number): Promise<string>;
  close(): void;
}

export interface WatchHandlers {
  /** Called with each new state, and with the events that led to it. The list is empty after a snapshot. */
  changed?(events: readonly RecordedEvent[]): void;
  closed?(error: Error | null): void;
}

interface FollowHandlers {
  /** Called at the beginning, and after `dropped` events were lost. */
  snapshot(state: SessionState, dropped: number): void;
  events(events: readonly RecordedEvent[]): void;
  closed(error: Error | null): void;
}

export interface Following {
  /** Profiles a worker. Resolves to the file's name below `profiles/` in the session's log directory. */
  profile(worker: number, seconds: number): Promise<string>;
  close(): void;
}

/** Follows a session without keeping a state. `directory` is the session's directory with its socket. */
export function follow(directory: string, token: string, handlers: FollowHandlers): Following {
  const wire = new Wire<ToObserver, ObserverMessage>(connectInside(directory, SOCKET));
  const profiles = new AskedProfiles();
  wire.onMessage((message) => {
    if (message.type === "snapshot") handlers.snapshot(stateOf(message.state), message.dropped);
    else if (message.type === "profiled") profiles.answered(message);
    else handlers.events(message.events);
  });

  wire.onClose((error) => {
    profiles.lost();
    handlers.closed(error);
  });
  wire.send({ type: "observe", token });
  return {
    profile: (worker, seconds) =>
      profiles.ask((request) => wire.send({ type: "profile", request, worker: worker as WorkerId, seconds })),
    close: () => wire.close(),
  };
}

/** Keeps a state that follows the session. */
export function observe(directory: string, token: string, { changed, closed }: WatchHandlers = {}): Watching {
  let state = emptyState();
  let dropped = 0;
  const following = follow(directory, token, {
    snapshot(next, missed) {
      state = next;
      dropped += missed;
      changed?.([]);
    },
    events(events) {
      for (const event of events) apply(state, event);
      changed?.(events);
    },
    closed: (error) => closed?.(error),
  });
  return {
    get state() {
      return state;
    },
    get dropped() {
      return dropped;
    },
    profile: (worker, seconds) => following.profile(worker, seconds),
    close: () => following.close(),
  };
}

type Answer = Extract<ToObserver, { type: "profiled" }>;

/** Requested profiles that are not complete yet. */
class AskedProfiles {
  readonly #waiting = new Map<number, { resolve(file: string): void; reject(error: Error): void }>();
  #isLost = false;
  #last = 0;

  ask(send: (request: number) => void): Promise<string> {
    if (this.#isLost) return Promise.reject(sessionEnded());
    this.#last += 1;
    const request = this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(request, { resolve, reject });
      send(request);
    });
  }

  answered({ request, file, error }: Answer): void {
    const waiting = this.#waiting.get(request);
    this.#waiting.delete(request);
    if (error !== null) waiting?.reject(fromWire(error));
    else if (file !== null) waiting?.resolve(file);
  }

  lost(): void {
    this.#isLost = true;
    for (const { reject } of this.#waiting.values()) reject(sessionEnded());
    this.#waiting.clear();
  }
}

function sessionEnded(): SessionClosedError {
  return new SessionClosedError(
    "profile: the session has ended, or it refused the connection. Its profiles are in its directory.",
  );
}
