/** Files of the system with a name and a number on each line: `anon 4096`, `MemTotal:  24682416 kB`. */
export type Statistics = ReadonlyMap<string, number>;

export function statistics(text: string | null): Statistics {
  const found = new Map<string, number>();
  for (const line of (text ?? "").split("\n")) {
    const [name = "", value, unit] = line.split(/\s+/);
    if (value !== undefined) found.set(name.replace(":", ""), Number(value) * (unit === "kB" ? 1024 : 1));
  }
  return found;
}

export function sum(of: Statistics, names: readonly string[]): number {
  return names.reduce((total, name) => total + (of.get(name) ?? 0), 0);
}

/** One figure without a unit; null if the file lacks it. `/proc/vmstat` has almost two hundred, and one is wanted. */
export function statistic(text: string | null, name: string): number | null {
  const lines = `\n${text ?? ""}`;
  const at = lines.indexOf(`\n${name} `);
  return at === -1 ? null : Number.parseInt(lines.slice(at + name.length + 2, at + name.length + 32), 10);
}
