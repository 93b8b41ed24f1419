/**
 * Messages between a supervisor and its dashboard process, over Node's channel between parent and child. A `connection`
 * message carries a socket.
 */
import type { Milliseconds } from "./job.ts";

export type ToDashboard =
  /** The first message. It uses this channel because everybody can read a command line. */
  | {
      readonly type: "session";
      readonly session: string;
      /** The session's directory with its socket, and the token that the socket requires. */
      readonly socketDirectory: string;
      readonly token: string;
      /** The token that browsers must show. */
      readonly dashboardToken: string;
      readonly port: number;
      /** The directory with the session's logs and event file. */
      readonly logs: string;
      /** The process may end when nobody has looked for this long. */
      readonly idle: Milliseconds;
    }
  | { readonly type: "connection"; readonly id: number }
  /** No more connections will come, because the process has said that it is idle. */
  | { readonly type: "leave" }
  /** The session has ended. */
  | { readonly type: "end" };

export type FromDashboard =
  /** The process has taken the connection. */
  | { readonly type: "taken"; readonly id: number }
  /** Nobody has looked for a while, so the process wants to end. */
  | { readonly type: "idle" };
