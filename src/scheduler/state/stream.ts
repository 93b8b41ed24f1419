/**
 * The scheduler's part of the event stream: collected while an event is handled, and taken by whoever runs the
 * scheduler.
 */
import type {
  Milliseconds,
  Notice,
  NoticeMessage,
  RecordedEvent,
  SessionEvent,
  StreamEvent,
} from "../../protocol/index.ts";
import { type State, tell } from "./state.ts";

export interface EventStream {
  /** The time of the event that is being handled, in tenths of a millisecond at the finest. */
  at: Milliseconds;
  events: RecordedEvent[];
}

/** Moves, which are many, write to the stream themselves. */
export function note({ stream }: State, event: StreamEvent): void {
  stream.events.push({ at: stream.at, ...event });
}

/** An event of which the program's own listeners are told as well. */
export function watch(state: State, event: SessionEvent): void {
  note(state, event);
  state.commands.push({ type: "event", event });
}

/** A notice is an event, and a message to the program. */
export function tellNotice(state: State, notice: Notice, about?: NoticeMessage["about"]): void {
  passNotice(state, about === undefined ? { type: "notice", notice } : { type: "notice", notice, about });
}

/** A notice of a worker, as it came. */
export function passNotice(state: State, message: NoticeMessage): void {
  note(state, message);
  tell(state, message);
}
