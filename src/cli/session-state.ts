/** The state of a session for one look: the same for a running, an ended and a killed session. */
import type { Command } from "commander";
import type { SessionState } from "../events/index.ts";
import { findSession, type KnownSession, openSession } from "../sessions/index.ts";
import { formatDuration } from "../units/index.ts";

export interface Looked {
  readonly known: KnownSession;
  readonly state: SessionState;
  /** The session's status in words. */
  readonly standing: string;
}

export async function look(wanted: string | undefined): Promise<Looked> {
  const known = findSession(wanted);
  const open = await openSession(known);
  open.close();
  const { state } = open;
  // An idle session has no events, but its clock goes on.
  if (open.isLive && state.session !== null) state.at = Math.max(state.at, Date.now() - state.session.epoch);
  return { known, state, standing: standingOf(known, state) };
}

function standingOf({ status }: KnownSession, { at }: SessionState): string {
  if (status === "running") return `running for ${formatDuration(at)}`;
  const end = status === "killed" ? "was killed" : "has ended";
  return `${end}; this is its last moment, after ${formatDuration(at)}`;
}

export function sessionArgument(command: Command): Command {
  return command.argument("[session]", "its name, the beginning of it, its directory, or latest");
}
