/** One log, shown a page of bytes at a time, with a search over the whole log. */
import { useState } from "preact/hooks";
import type { LogText } from "../../api.ts";
import { useAnswer } from "../fetching.ts";
import { bytes, count, plural } from "../format.ts";
import { Failure, Waiting } from "../parts/empty.tsx";
import { Panel } from "../parts/panel.tsx";
import { downloadAddress } from "./index.tsx";

/** Longer lines are cut: laying out a line of megabytes keeps a browser busy for seconds. */
const LONGEST_LINE = 4000;
const PAGE = 65_536;

export function LogView({ name }: { readonly name: string }) {
  const [from, setFrom] = useState<number | null>(null);
  const [find, setFind] = useState("");
  const [typed, setTyped] = useState("");
  const query = new URLSearchParams();
  if (from !== null) query.set("from", String(from));
  if (find !== "") query.set("find", find);
  const { data, error, reload } = useAnswer<LogText>(`api/logs/${encodeURIComponent(name)}?${query}`);
  return (
    <Panel
      title={name.slice(0, 200)}
      class="log"
      aside={
        <a href={downloadAddress(name)} download={name}>
          Download
        </a>
      }
    >
      <form
        class="tools"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          setFind(typed);
        }}
      >
        <label>
          Find <input type="search" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
        <button type="submit">Find</button>
        <button type="button" onClick={reload}>
          Read again
        </button>
      </form>
      {error !== null && <Failure what="The log" error={error} />}
      {data === null && error === null && <Waiting what="the log" />}
      {data?.found !== undefined && <Found found={data.found} find={find} onOpen={setFrom} />}
      {data !== null && <Text text={data} onFrom={setFrom} />}
    </Panel>
  );
}

interface FoundProps {
  readonly found: NonNullable<LogText["found"]>;
  readonly find: string;
  onOpen(from: number): void;
}

function Found({ found, find, onOpen }: FoundProps) {
  return (
    <div class="found" role="region" aria-label="Lines found" tabIndex={0}>
      <p role="status">
        {plural(found.total, "line")} with “{find.slice(0, 100)}”
        {found.total > found.lines.length && `, the first ${count(found.lines.length)} of them`}
      </p>
      <ul>
        {found.lines.map(({ at, text }) => (
          <li key={at}>
            <button type="button" class="link" onClick={() => onOpen(at)}>
              at {count(at)}
            </button>{" "}
            <code>{cut(text, 400)}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Text({
  text: { text, from, to, size },
  onFrom,
}: {
  readonly text: LogText;
  onFrom(from: number | null): void;
}) {
  return (
    <>
      <div class="pages">
        <button type="button" disabled={from === 0} onClick={() => onFrom(0)}>
          First
        </button>
        <button type="button" disabled={from === 0} onClick={() => onFrom(Math.max(0, from - PAGE))}>
          Earlier
        </button>
        <button type="button" disabled={to >= size} onClick={() => onFrom(to)}>
          Later
        </button>
        <button type="button" disabled={to >= size} onClick={() => onFrom(Math.max(0, size - PAGE))}>
          Last
        </button>
        <span class="muted">
          bytes {count(from)} to {count(to)} of {bytes(size)}
        </span>
      </div>
      {size === 0 ? (
        <p class="muted">The log is empty.</p>
      ) : (
        <pre tabIndex={0} role="region" aria-label="Text of the log">
          {text
            .split("\n")
            .map((line) => cut(line, LONGEST_LINE))
            .join("\n")}
        </pre>
      )}
    </>
  );
}

function cut(line: string, most: number): string {
  return line.length <= most
    ? line
    : `${line.slice(0, most)}… (${count(line.length - most)} more characters: download)`;
}
