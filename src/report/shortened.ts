/** Text of users that is shown, such as the message that a function puts into its error: it can be megabytes long. */
const MOST_LETTERS = 2_000;

export function shortened(text: string): string {
  return text.length <= MOST_LETTERS ? text : `${text.slice(0, MOST_LETTERS)}… (${text.length} characters)`;
}
