/** What the doctor says about one subject. */

/** note: everything works, but something could be better. */
export type State = "good" | "note" | "wrong";

export interface Finding {
  readonly state: State;
  readonly subject: string;
  /** What was found, with figures. */
  readonly text: string;
  /** What to do; null when nothing needs to be done. */
  readonly remedy: string | null;
}

export function good(subject: string, text: string): Finding {
  return { state: "good", subject, text, remedy: null };
}

export function note(subject: string, text: string, remedy: string): Finding {
  return { state: "note", subject, text, remedy };
}

export function wrong(subject: string, text: string, remedy: string): Finding {
  return { state: "wrong", subject, text, remedy };
}
