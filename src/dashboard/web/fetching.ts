/** Fetches the server's answers. A page that is shown live fetches again every few seconds. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useLive } from "./live/index.ts";

interface Answer<T> {
  readonly data: T | null;
  readonly error: string | null;
  reload(): void;
}

/** The address decides the answer's type: the server and the pages come from the same build. */
export async function ask<T>(address: string, signal?: AbortSignal): Promise<T> {
  const response = await fetch(address, { signal: signal ?? null, headers: { accept: "application/json" } });
  if (!response.ok) throw new Error(await refusal(response));
  return response.json();
}

export async function refusal(response: Response): Promise<string> {
  const text = (await response.text()).slice(0, 2000).trim();
  return text === "" ? `the server answered ${response.status} ${response.statusText}` : told(text);
}

/** Refusals are JSON, but anything between the server and the page may answer with text. */
function told(text: string): string {
  try {
    const { error }: { readonly error?: unknown } = JSON.parse(text);
    return typeof error === "string" ? error : text;
  } catch {
    return text;
  }
}

/** `address`: null fetches nothing. `every`: milliseconds between two fetches while the session runs. */
export function useAnswer<T>(address: string | null, every: number | null = null): Answer<T> {
  const isRunning = useLive("session").session?.status === "running";
  const [answer, setAnswer] = useState<{ of: string; data: T | null; error: string | null } | null>(null);
  const [round, setRound] = useState(0);
  const runs = useRef(isRunning);
  runs.current = isRunning;
  // A new round fetches again.
  useEffect(() => {
    if (address === null) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async () => {
      try {
        const data = await ask<T>(address, abort.signal);
        setAnswer({ of: address, data, error: null });
      } catch (error) {
        if (abort.signal.aborted) return;
        const text = String(error).replace(/^\w*Error: /, "");
        setAnswer((old) => ({ of: address, data: old?.of === address ? old.data : null, error: text }));
      }
      if (every !== null && !abort.signal.aborted) timer = setTimeout(again, every);
    };
    const again = () => {
      if (runs.current && !document.hidden) load();
      else timer = setTimeout(again, every ?? 0);
    };
    load();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [address, every, round, isRunning]);
  const current = answer?.of === address ? answer : null;
  return { data: current?.data ?? null, error: current?.error ?? null, reload: () => setRound(round + 1) };
}
