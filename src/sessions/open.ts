/** Opens a session for reading: live while the session runs, from its event file afterwards. */
import { SessionClosedError } from "../errors/index.ts";
import { assertFormat, observe, readSession, type SessionState, type WatchHandlers } from "../events/index.ts";
import { readAttachment } from "../supervisor/index.ts";
import type { KnownSession } from "./known.ts";

type SessionHandlers = WatchHandlers;

interface OpenSession {
  /** The state now. For a session that has ended, its last state. */
  readonly state: SessionState;
  /** True while more events can arrive. */
  readonly isLive: boolean;
  /** Lost events, and lines of the event file that could not be read. */
  readonly missed: number;
  /**
   * Profiles a worker for the given number of seconds. Resolves to the file's name in the session's profile directory.
   */
  profile(worker: number, seconds: number): Promise<string>;
  close(): void;
}

/** Resolves once the first state is known. A session that ends while it is opened is read from its event file. */
export async function openSession(session: KnownSession, handlers: SessionHandlers = {}): Promise<OpenSession> {
  const attachment = session.status === "running" ? readAttachment(session.directory) : null;
  if (attachment === null) return fromFile(session.directory);
  try {
    return await live(attachment.directory, attachment.token, handlers);
  } catch (error) {
    // A closing session first removes its attachment.
    if (readAttachment(session.directory) !== null) throw error;
    return fromFile(session.directory);
  }
}

function fromFile(directory: string): OpenSession {
  const { state, torn } = readSession(directory);
  const profile = () => Promise.reject(new SessionClosedError("profile: the session has ended; its workers are gone."));
  return { state, isLive: false, missed: torn, profile, close() {} };
}

function live(directory: string, token: string, { changed, closed }: SessionHandlers): Promise<OpenSession> {
  return new Promise((resolve, reject) => {
    let isOpen = false;
    let isLive = true;
    const watching = observe(directory, token, {
      changed(events) {
        if (!isOpen) {
          try {
            assertFormat(watching.state.session);
          } catch (error) {
            watching.close();
            return reject(error);
          }
          isOpen = true;
          resolve({
            get state() {
              return watching.state;
            },
            get isLive() {
              return isLive;
            },
            get missed() {
              return watching.dropped;
            },
            profile: (worker, seconds) => watching.profile(worker, seconds),
            close: () => watching.close(),
          });
        }
        changed?.(events);
      },
      closed(error) {
        isLive = false;
        if (isOpen) closed?.(error);
        else reject(error ?? new SessionClosedError("The session ended before it could be observed."));
      },
    });
  });
}
