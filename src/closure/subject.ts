/** A function that is being captured as source, with what is known about it and what has been decided so far. */
import type { Piece } from "./emit.ts";
import type { LiveFunction } from "./inspect.ts";
import type { FunctionSite } from "./lexical.ts";
import type { Edit } from "./mapped-text.ts";
import type { Slots } from "./payload.ts";
import type { ScopeInstance } from "./scopes.ts";
import { type Script, showPosition } from "./script.ts";
import type { Trail } from "./trail.ts";

/** All captured functions of one script, which become a program of the payload. */
export interface ProgramDraft {
  readonly script: Script;
  readonly root: ScopeInstance;
  readonly pieces: Piece[];
  readonly variables: Slots;
}

export interface Subject {
  readonly name: string;
  readonly script: Script;
  readonly site: FunctionSite;
  readonly live: LiveFunction;
  readonly draft: ProgramDraft;
  /** Its scopes, innermost first, without the global one. */
  readonly chain: readonly ScopeInstance[];
  /** Changes to its source. Text that they cut out is not analysed. */
  readonly edits: Edit[];
  readonly trail: Trail;
}

/** The trail of a value that the function names at this offset of its script. */
export function namedBy(subject: Subject, name: string, offset: number): Trail {
  return {
    name,
    within: null,
    holder: null,
    where: showPosition(subject.script.original(offset)),
    // If the function that the user gave has no name, it is no property of anything either.
    user: subject.name || (subject.trail.userTrail === null ? "" : subject.trail.name.replace(/^\./, "")),
    userTrail: subject.trail,
  };
}

export function isCut(subject: Subject, offset: number): boolean {
  return subject.edits.some((edit) => offset >= edit.start && offset < edit.end);
}
