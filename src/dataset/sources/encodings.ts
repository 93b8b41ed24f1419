/** The encodings of text files by the names that users give. */
import { OptionError } from "../../errors/index.ts";
import type { TextEncoding } from "../../protocol/index.ts";
import { describe, oneOf } from "../options.ts";

export const ENCODINGS: readonly TextEncoding[] = ["utf-8", "latin-1", "windows-1252", "utf-16le", "utf-16be"];
/** Other common names for the encodings. */
const ALSO_CALLED: Readonly<Record<string, TextEncoding>> = {
  utf8: "utf-8",
  latin1: "latin-1",
  "iso-8859-1": "latin-1",
  cp1252: "windows-1252",
  "utf-16": "utf-16le",
  utf16le: "utf-16le",
  utf16be: "utf-16be",
};

export function encodingOf<T extends TextEncoding>(operator: string, encoding: unknown, allowed: readonly T[]): T {
  if (typeof encoding !== "string")
    throw new OptionError(`${operator}: encoding is ${describe(encoding)}; it must be a text.`);
  const name = encoding.toLowerCase();
  return oneOf(operator, "encoding", ALSO_CALLED[name] ?? name, allowed);
}
