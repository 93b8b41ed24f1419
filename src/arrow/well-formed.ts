/**
 * Texts that UTF-8 cannot encode. Half of a surrogate pair is no character: encoding turns every such half into the
 * same U+FFFD, so that different texts would become equal. `isWellFormed` costs 5 ns for a text of one byte a
 * character.
 */

/** What is wrong and what to do, as the continuation of the text and "has"; null if the text is fine. */
export function halfPair(text: string): string | null {
  if (text.isWellFormed()) return null;
  const mended = text.toWellFormed();
  let at = 0;
  while (text.charCodeAt(at) === mended.charCodeAt(at)) at++;
  const half = JSON.stringify(text.charAt(at)).slice(1, -1);
  return `half of a surrogate pair (${half} at position ${at}), which is no character. Give text.toWellFormed(), or cut texts between characters`;
}
