/**
 * Gives the deep expressions in a sort, a group or an aggregate names: a projection below computes them, and
 * projections are computed in steps.
 */
import { column, type Expression, isDeep, mapChildren, type NamedExpression } from "../expression/index.ts";
import { aggregate } from "../nodes/aggregate.ts";
import { drop } from "../nodes/drop.ts";
import { project } from "../nodes/project.ts";
import { sort } from "../nodes/sort.ts";
import { type Plan, rewriteUp } from "../plan.ts";

export function nameDeepInputs(plan: Plan): Plan {
  return rewriteUp(plan, (node) => {
    if (node.kind !== "sort" && node.kind !== "aggregate") return node;
    const named = new NamedInputs();
    if (node.kind === "sort") {
      const keys = node.keys.map((key) => ({ ...key, expression: named.take(key.expression) }));
      return named.items.length === 0 ? node : drop(sort(named.below(node.input), keys), named.names);
    }
    const keys = node.keys.map(({ name, expression }) => ({ name, expression: named.take(expression) }));
    const items = node.items.map(({ name, expression }) => ({ name, expression: named.inAggregates(expression) }));
    return named.items.length === 0 ? node : aggregate(named.below(node.input), keys, items);
  });
}

class NamedInputs {
  readonly items: NamedExpression[] = [];

  get names(): readonly string[] {
    return this.items.map(({ name }) => name);
  }

  take(expression: Expression): Expression {
    if (!isDeep(expression)) return expression;
    const name = `__spillway_input_${this.items.length}`;
    this.items.push({ name, expression });
    return column(name);
  }

  inAggregates(expression: Expression): Expression {
    if (expression.kind === "aggregate") return mapChildren(expression, (input) => this.take(input));
    return mapChildren(expression, (child) => this.inAggregates(child));
  }

  below(input: Plan): Plan {
    return project(input, "with", this.items, "withColumn");
  }
}
