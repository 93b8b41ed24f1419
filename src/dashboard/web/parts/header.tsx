/** The session's name and state, the pages, and the choice of light and dark. */
import { useEffect, useRef } from "preact/hooks";
import type { PageEntry } from "../app.tsx";
import { count } from "../format.ts";
import { useConnection, useLive } from "../live/index.ts";
import { address } from "../route.ts";
import { type Choice, useTheme } from "../theme.ts";

interface HeaderProps {
  readonly pages: readonly PageEntry[];
  readonly current: string;
  onSkip(): void;
}

export function Header({ pages, current, onSkip }: HeaderProps) {
  const skip = (event: Event) => {
    event.preventDefault();
    onSkip();
  };
  return (
    <header class="top">
      <a class="skip" href={location.hash} onClick={skip}>
        Skip to the page
      </a>
      <div class="brand">
        <Mark />
        <span class="brand-name">Spillway</span>
        <SessionLine />
      </div>
      <Pages pages={pages} current={current} />
      <ThemeSwitch />
    </header>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path class="mark-rows" d="M6 8h14v4H6zM6 14h20v4H6z" />
      <path class="mark-spilled" d="M6 20h9v4H6z" />
    </svg>
  );
}

function SessionLine() {
  const { session } = useLive("session");
  const connection = useConnection();
  if (session === null) return <span class="pill">connecting …</span>;
  const word = session.status !== "running" ? session.status : connection === "lost" ? "not connected" : "live";
  const tone = word === "live" ? "good" : word === "ended" ? "" : "bad";
  return (
    <>
      <span class={`pill ${tone}`}>{word}</span>
      <span class="session-name" title={`${session.name} on ${session.host}, Node ${session.node}`}>
        {session.name} <span class="muted">on {session.host}</span>
      </span>
    </>
  );
}

function Pages({ pages, current }: { readonly pages: readonly PageEntry[]; readonly current: string }) {
  const { totals } = useLive("totals");
  const list = useRef<HTMLUListElement>(null);
  // On a phone, scrolls the list of pages to the current one.
  useEffect(() => {
    const link = list.current?.querySelector("[aria-current]");
    link?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [current]);
  const memoryEnds = (totals?.memoryDeaths ?? 0) + (totals?.oomRetries ?? 0);
  return (
    <nav aria-label="Pages">
      <ul ref={list}>
        {pages.map(({ path, title }) => (
          <li key={path}>
            <a href={address(path)} aria-current={path === current ? "page" : undefined}>
              {title}
              {path === "deaths" && memoryEnds > 0 && (
                <span class="badge">
                  {count(memoryEnds)}
                  <span class="sr"> deaths and retries</span>
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

const CHOICES: readonly { readonly choice: Choice; readonly label: string }[] = [
  { choice: "auto", label: "Auto" },
  { choice: "light", label: "Light" },
  { choice: "dark", label: "Dark" },
];

function ThemeSwitch() {
  const { choice: chosen, choose } = useTheme();
  return (
    <fieldset class="theme">
      <legend class="sr">Colours of the page</legend>
      {CHOICES.map(({ choice, label }) => (
        <label key={choice} class={choice === chosen ? "chosen" : ""}>
          <input
            class="sr"
            type="radio"
            name="theme"
            value={choice}
            checked={choice === chosen}
            onChange={() => choose(choice)}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
