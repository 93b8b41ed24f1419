/** Removes nodes that change nothing, and combines limits that follow each other. */
import { columnsOf } from "../columns.ts";
import { type LimitNode, limit } from "../nodes/limit.ts";
import { type Plan, rewriteUp } from "../plan.ts";

export function dropNoOps(plan: Plan): Plan {
  return rewriteUp(plan, (node) => {
    switch (node.kind) {
      case "project":
        return isIdentity(node) ? node.input : node;
      case "limit":
        if (node.offset === 0 && node.limit === null) return node.input;
        return node.input.kind === "limit" ? joined(node, node.input) : node;
      case "sample":
        return node.size.kind === "fraction" && node.size.fraction >= 1 ? node.input : node;
      case "union": {
        const [only] = node.inputs;
        return node.inputs.length === 1 && only !== undefined ? only : node;
      }
      case "drop":
        return node.names.length === 0 ? node.input : node;
      case "rename":
        return node.names.size === 0 ? node.input : node;
      default:
        return node;
    }
  });
}

function isIdentity(node: Extract<Plan, { kind: "project" }>): boolean {
  const unchanged = node.items.every(
    ({ name, expression }) => expression.kind === "column" && expression.name === name,
  );
  if (!unchanged) return false;
  if (node.mode === "with") return true;
  const input = columnsOf(node.input);
  return input !== null && input.length === node.items.length && input.every((name, i) => name === node.items[i]?.name);
}

function joined(outer: LimitNode, inner: LimitNode): Plan {
  const offset = inner.offset + outer.offset;
  const left = inner.limit === null ? null : Math.max(0, inner.limit - outer.offset);
  const rows = left === null ? outer.limit : outer.limit === null ? left : Math.min(left, outer.limit);
  return limit(inner.input, offset, rows);
}
