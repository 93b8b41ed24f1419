/** Patterns of paths: `*`, `?`, `[a-z]`, `{a,b}`, and `**` for any number of folders. Knows text only, no files. */

import { OptionError } from "../../errors/index.ts";
import { isHidden, isHiddenFolder } from "../../files/index.ts";

export function hasPattern(path: string): boolean {
  return /[*?[{]/.test(path);
}

/** Expands `a/{b,c}/*` to `a/b/*` and `a/c/*`. Braces may nest. */
export function expandBraces(pattern: string): readonly string[] {
  const open = pattern.indexOf("{");
  if (open < 0) return [pattern];
  let depth = 0;
  const commas: number[] = [];
  for (let at = open; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === "{") depth++;
    if (character === "," && depth === 1) commas.push(at);
    if (character === "}" && --depth === 0) {
      const bounds = [open, ...commas, at];
      const before = pattern.slice(0, open);
      const after = pattern.slice(at + 1);
      return bounds
        .slice(0, -1)
        .flatMap((start, i) => expandBraces(`${before}${pattern.slice(start + 1, bounds[i + 1])}${after}`));
    }
  }
  return [pattern];
}

/**
 * Matches one name between two slashes. A name that begins with `.` or `_` only matches a pattern that begins with it,
 * too.
 */
export function segmentMatcher(segment: string): (name: string, isFile: boolean) => boolean {
  const body = segment.replace(/\[!?[^\]]*\]|[\s\S]/g, (part) => {
    if (part === "*") return "[^/]*";
    if (part === "?") return "[^/]";
    if (part.length > 1 && part.startsWith("[")) {
      const inside = part.slice(1, -1).replaceAll("\\", "\\\\");
      return inside.startsWith("!") ? `[^${inside.slice(1)}]` : `[${inside}]`;
    }
    return part.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  });
  const matcher = expressionOf(body, segment);
  const first = segment[0] ?? "";
  return (name, isFile) => {
    const isLeftOut = isFile ? isHidden(name) : isHiddenFolder(name);
    return isLeftOut && first !== name[0] ? false : matcher.test(name);
  };
}

function expressionOf(body: string, segment: string): RegExp {
  try {
    return new RegExp(`^${body}$`);
  } catch {
    throw new OptionError(
      `The pattern ${segment} has a range of characters that ends before it begins. Write [a-z], and [[] for a bracket.`,
    );
  }
}
