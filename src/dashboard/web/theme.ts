/** Light or dark: the system's choice, or the reader's. Charts are drawn again when it changes. */
import { useEffect, useState } from "preact/hooks";

export type Choice = "auto" | "light" | "dark";
const KEY = "spillway.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
let choice: Choice = stored();

function stored(): Choice {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "auto";
}

function isDark(): boolean {
  return choice === "auto" ? system.matches : choice === "dark";
}

function show(): void {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  tokens.clear();
  for (const listener of listeners) listener();
}

export function startTheme(): void {
  system.addEventListener("change", show);
  show();
}

export function useTheme(): { readonly choice: Choice; readonly dark: boolean; choose(next: Choice): void } {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((times) => times + 1);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  return {
    choice,
    dark: isDark(),
    choose(next) {
      choice = next;
      localStorage.setItem(KEY, next);
      show();
    },
  };
}

const tokens = new Map<string, string>();

/**
 * The value of a custom property, because a canvas cannot use `var()`. Each call makes the browser compute all styles.
 */
export function token(name: string): string {
  const known = tokens.get(name);
  if (known !== undefined) return known;
  const value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  tokens.set(name, value);
  return value;
}
