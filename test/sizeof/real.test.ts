/** sizeof against what the process really takes. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("[K2] big values are told within a factor of two of the memory that they take", () => {
  const script = fileURLToPath(new URL("fixtures.ts", import.meta.url));
  const options = ["--expose-gc", "--import", import.meta.resolve("tsx"), script];
  const found: Record<string, { real: number; told: number }> = JSON.parse(
    execFileSync(process.execPath, options, { encoding: "utf8" }),
  );
  const ratios = Object.entries(found).map(([name, { real, told }]) => [name, told / real] as const);
  expect(ratios.length).toBeGreaterThan(10);
  for (const [name, ratio] of ratios) {
    expect(ratio, name).toBeGreaterThan(0.5);
    expect(ratio, name).toBeLessThan(2);
  }
});
