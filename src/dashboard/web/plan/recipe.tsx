/** What an operator's tasks do and what they request: functions, SQL, options. */
import type { OperatorCard } from "../../api.ts";
import { bytes, count, plural } from "../format.ts";
import { Panel } from "../parts/panel.tsx";

type Plan = OperatorCard["plan"];
type Of = NonNullable<Plan["recipe"]>;

const SHOWN = 20;

export function Recipe({ plan: { recipe } }: { readonly plan: Plan }) {
  if (recipe === null) return null;
  const { functions, sql } = recipe;
  return (
    <Panel title="What its tasks do">
      <dl class="facts">
        {factsOf(recipe).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        {functions.length > 0 && (
          <div>
            <dt>Functions</dt>
            <dd>
              {functions.slice(0, SHOWN).map((name, index) => (
                <bdi key={index} class="file">
                  <code>{name.slice(0, 300)}</code>
                </bdi>
              ))}
              {functions.length > SHOWN && `and ${plural(functions.length - SHOWN, "more function")}`}
            </dd>
          </div>
        )}
      </dl>
      {sql.slice(0, SHOWN).map((text, index) => (
        <details key={index}>
          <summary>SQL {sql.length > 1 ? count(index + 1) : ""}</summary>
          <pre class="sql" tabIndex={0} role="region" aria-label={`SQL ${index + 1}`}>
            {text}
          </pre>
        </details>
      ))}
    </Panel>
  );
}

function factsOf(recipe: Of): readonly (readonly [string, string])[] {
  const { request, skipped } = recipe;
  const facts: (readonly [string, string])[] = [
    ["Each task asks for", askedFor(request)],
    ["At once", recipe.concurrency >= 1e6 ? "as many as fit" : plural(recipe.concurrency, "task")],
    ["Runs again", `${plural(recipe.maxRetries, "time")} after a crash, ${count(recipe.maxOomRetries)} for memory`],
    ["Its rows become", recipe.sink],
  ];
  if (recipe.batchSize !== null) facts.push(["Batches", plural(recipe.batchSize, "row")]);
  if (recipe.files > 0) facts.push(["Reads", plural(recipe.files, "file")]);
  const left = [
    [skipped.files, "file"],
    [skipped.rowGroups, "row group"],
    [skipped.columns, "column"],
    [skipped.rows, "row"],
  ] as const;
  const unread = left.filter(([many]) => many > 0).map(([many, what]) => plural(many, what));
  if (unread.length > 0) facts.push(["Skipped unread", unread.join(", ")]);
  return facts;
}

function askedFor({ cpu, gpu, memory }: Of["request"]): string {
  const parts = [`${cpu} CPU`, gpu > 0 ? `${gpu} GPU` : "", memory > 0 ? bytes(memory) : ""];
  return parts.filter((part) => part !== "").join(", ");
}
