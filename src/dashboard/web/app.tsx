/** The frame of every page: header, navigation, banner, and the page that the address names. */
import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Deaths } from "./deaths/index.tsx";
import { Events } from "./events/index.tsx";
import { Logs } from "./logs/index.tsx";
import { Memory } from "./memory/index.tsx";
import { Banner } from "./parts/banner.tsx";
import { Empty } from "./parts/empty.tsx";
import { Header } from "./parts/header.tsx";
import { Tip } from "./parts/tip.tsx";
import { Plan } from "./plan/index.tsx";
import { Profiles } from "./profiles/index.tsx";
import { type Route, useRoute } from "./route.ts";
import { Settings } from "./settings/index.tsx";
import { Status } from "./status/index.tsx";
import { Workers } from "./workers/index.tsx";

export interface PageProps {
  readonly route: Route;
}

export interface PageEntry {
  readonly path: string;
  readonly title: string;
  readonly page: ComponentType<PageProps>;
}

const PAGES: readonly PageEntry[] = [
  { path: "status", title: "Status", page: Status },
  { path: "plan", title: "Plan", page: Plan },
  { path: "memory", title: "Memory", page: Memory },
  { path: "deaths", title: "Out of memory", page: Deaths },
  { path: "workers", title: "Workers", page: Workers },
  { path: "events", title: "Events", page: Events },
  { path: "logs", title: "Logs", page: Logs },
  { path: "profiles", title: "Profiles", page: Profiles },
  { path: "settings", title: "Settings", page: Settings },
];

export function App() {
  const route = useRoute();
  const entry = PAGES.find(({ path }) => path === route.page);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const title = entry?.title ?? "No such page";

  useEffect(() => {
    document.title = `${title} · Spillway`;
    // A screen reader reads the new page from its start. The first page takes no focus.
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    if (!isFirst.current) scrollTo(0, 0);
    isFirst.current = false;
  }, [title]);

  const Page = entry?.page;
  return (
    <>
      <Header pages={PAGES} current={route.page} onSkip={() => main.current?.focus()} />
      <Banner />
      <main ref={main} tabIndex={-1} aria-label={title}>
        <h1 class="sr">{title}</h1>
        {Page === undefined ? (
          <Empty title="No such page">
            The address names no page of the dashboard. The list above has all of them.
          </Empty>
        ) : (
          <Page route={route} />
        )}
      </main>
      <Tip />
    </>
  );
}
