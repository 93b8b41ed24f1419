/** The route of a page is the address after `#/`, such as `#/plan/<job>/<operator>`. The server has a single page. */
import { useEffect, useState } from "preact/hooks";

export interface Route {
  readonly page: string;
  readonly rest: readonly string[];
  /** The part after `?`. */
  readonly query: URLSearchParams;
}

function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [page = "", ...rest] = path.split("/").map(decode);
  return { page: page === "" ? "status" : page, rest, query: new URLSearchParams(query) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function address(...parts: readonly (string | number)[]): string {
  return `#/${parts.map((part) => encodeURIComponent(part)).join("/")}`;
}

export function operatorAddress(key: string): string {
  return address("plan", ...key.split("/"));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const changed = () => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
