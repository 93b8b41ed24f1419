/** Options that are numbers. */
import { InvalidArgumentError } from "commander";

export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least) return value;
    throw new InvalidArgumentError(`It must be a whole number, at least ${least}.`);
  };
}
