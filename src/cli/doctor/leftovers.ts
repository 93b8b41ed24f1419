/** What killed sessions left behind: processes, shared memory, spilled blocks. */
import { abandoned, sweep } from "../../supervisor/sweep.ts";
import { type Finding, good, wrong } from "./finding.ts";

const SUBJECT = "killed sessions";

/** `clean` removes it. */
export function leftovers(localDirectories: readonly string[], clean: boolean): Finding {
  if (clean) {
    const removed = localDirectories.flatMap((local) => sweep(local, ""));
    if (removed.length > 0) return good(SUBJECT, `removed what ${removed.join(", ")} had left`);
  }
  const names = localDirectories.flatMap((local) => abandoned(local));
  if (names.length === 0) return good(SUBJECT, "nothing is left of any");
  const text = `${names.length} left memory or files behind: ${names.join(", ")}`;
  return wrong(SUBJECT, text, "Run spillway doctor --clean; the next session that starts removes it, too.");
}
