/** Arguments of the kernel's JSON reader that say how values follow one another in a file. */

const KERNEL_FORMATS = { auto: "auto", ndjson: "newline_delimited", array: "array" } as const;

export function formatArgument(format: keyof typeof KERNEL_FORMATS): string {
  return `format='${KERNEL_FORMATS[format]}'`;
}

/** The same arguments, for one value per line. */
export function asLines(args: readonly string[]): readonly string[] {
  return [formatArgument("ndjson"), ...args.filter((argument) => !argument.startsWith("format="))];
}

/**
 * Whether files read with these arguments give the same rows when a worker joins them into one file with a value per
 * line.
 */
export function areJoinable(args: readonly string[]): boolean {
  return args.every((argument) => argument === formatArgument("auto") || INDIFFERENT.test(argument));
}

const INDIFFERENT = /^(sample_size|dateformat|timestampformat)=/;

/** Whether their columns are the same, too: then all of each file is sampled. */
export function areSampledWhole(args: readonly string[]): boolean {
  return areJoinable(args) && !args.some((argument) => argument.startsWith("sample_size="));
}

/** Going by the name. The size of a compressed file says nothing about its contents. */
export const isCompressed = (path: string) => /\.(gz|zst)$/i.test(path);
