/** What axe-core has against a page: the rule, why, and the first element. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Found {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

declare global {
  var axe: { run(): Promise<{ readonly violations: readonly Found[] }> };
}

export async function violations(page: Page): Promise<readonly string[]> {
  // Evaluated by the browser's own debugger, which the page's policy does not bind.
  await page.evaluate(source);
  const found = await page.evaluate(async () => (await globalThis.axe.run()).violations);
  return found.map(({ id, help, nodes }) => {
    const [first] = nodes;
    return `${id}: ${help}: ${first?.html.slice(0, 200)} ${first?.failureSummary ?? ""} (${nodes.length})`;
  });
}
