/**
 * From this many columns on, a row is wide: what is done for each column, or kept for it, then outweighs the rows. The
 * kernel's vectors of so many columns take a few dozen MB a statement; V8 makes a dictionary of an object with more
 * than 1,020 keys.
 */
export const MANY_COLUMNS = 1_000;
