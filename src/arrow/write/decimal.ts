/** Parses decimal text, as people and JavaScript write it, into an unscaled integer. */

const DECIMAL = /^\s*([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,4}))?\s*$/;

/** `text` times 10^scale, rounded half away from zero; null if it is no number. */
export function parseDecimal(text: string, scale: number): bigint | null {
  const match = DECIMAL.exec(text);
  if (match === null) return null;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  if (whole === "" && fraction === "") return null;
  const digits = whole + fraction;
  const shift = scale + Number(exponent) - fraction.length;
  let size: bigint;
  if (shift >= 0) size = BigInt(digits) * 10n ** BigInt(shift);
  else {
    const divisor = 10n ** BigInt(-shift);
    size = (BigInt(digits) * 2n + divisor) / (divisor * 2n);
  }
  return sign === "-" ? -size : size;
}
