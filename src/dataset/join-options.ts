/** The keys, the kind and the suffix of a join, checked. */
import { OptionError } from "../errors/index.ts";
import type { JoinKind, JoinNode } from "../plan/index.ts";
import { checkKeys, describe, oneOf, text, textList } from "./options.ts";

const KINDS: readonly JoinKind[] = ["inner", "left", "right", "full", "semi", "anti", "cross"];

interface Given {
  readonly on?: unknown;
  readonly leftOn?: unknown;
  readonly rightOn?: unknown;
  readonly how?: unknown;
  readonly suffix?: unknown;
}

export function joinKeys(options: Given): Pick<JoinNode, "leftOn" | "rightOn" | "how" | "suffix"> {
  checkKeys("join", options, ["on", "leftOn", "rightOn", "how", "suffix"]);
  const how = oneOf("join", "how", options.how ?? "inner", KINDS);
  const suffix = text("join", "suffix", options.suffix ?? "_right");
  const { on, leftOn, rightOn } = options;
  const named = on !== undefined || leftOn !== undefined || rightOn !== undefined;
  if (how === "cross") {
    if (named) throw new OptionError("join: a cross join pairs every row with every row; it has no keys.");
    return { leftOn: [], rightOn: [], how, suffix };
  }
  if (on !== undefined) {
    if (leftOn !== undefined || rightOn !== undefined) {
      throw new OptionError("join: give either on, or leftOn and rightOn.");
    }
    const keys = names("on", on);
    return { leftOn: keys, rightOn: keys, how, suffix };
  }
  if (leftOn === undefined || rightOn === undefined) {
    throw new OptionError('join: name the keys: { on: "id" }, or { leftOn: "id", rightOn: "userId" }.');
  }
  const left = names("leftOn", leftOn);
  const right = names("rightOn", rightOn);
  if (left.length !== right.length) {
    throw new OptionError(
      `join: leftOn names ${left.length} keys and rightOn ${right.length}; both must name the same number.`,
    );
  }
  return { leftOn: left, rightOn: right, how, suffix };
}

function names(option: string, value: unknown): readonly string[] {
  if (typeof value !== "string" && !Array.isArray(value)) {
    throw new OptionError(`join: ${option} is ${describe(value)}; it must be a column name, or a list of them.`);
  }
  return textList("join", option, typeof value === "string" ? [value] : value);
}
