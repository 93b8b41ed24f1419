/** SQL that draws values from the bits of a hash. All generated tables are made with it. */

const WORDS = (
  "furiously carefully blithely quickly slyly express regular special final ironic pending bold even silent unusual " +
  "daring busy ruthless fluffy packages requests accounts deposits foxes ideas theodolites instructions dependencies " +
  "excuses platelets asymptotes courts dolphins multipliers sauternes warthogs frets dinos attainments somas pinto " +
  "beans sleep wake haggle nag use boost affix detect integrate cajole among above according beneath"
).split(" ");

export const list = (values: readonly (string | number)[]): string =>
  `[${values.map((value) => (typeof value === "number" ? value : `'${value}'`)).join(", ")}]`;

/** One of `values`, chosen by the bits of `hash` above `shift`. */
export const pick = (values: readonly (string | number)[], hash: string, shift: number): string =>
  `${list(values)}[1 + ((${hash} >> ${shift}) % ${values.length})::INTEGER]`;

export const uniform = (hash: string, shift: number, low: number, high: number): string =>
  `${low} + ((${hash} >> ${shift}) % ${high - low + 1})::BIGINT`;

/**
 * A text of words with 10 to `longest` characters. Six words of at least three letters always have 23 characters or
 * more.
 */
export const comment = (hash: string, longest: number): string => {
  const words = [0, 6, 12, 18, 24, 30].map((shift) => pick(WORDS, hash, shift)).join(" || ' ' || ");
  return `left(${words}, (${uniform(hash, 40, 10, longest)})::INTEGER)`;
};
