/** The session for components: a component is drawn again when a topic that it named has changed. */
import { createContext } from "preact";
import { useContext, useEffect, useReducer } from "preact/hooks";
import { type Connection, Live } from "./connection.ts";
import type { LiveState, Topic } from "./state.ts";

export { SeriesBuffer } from "./series-buffer.ts";
export type { LiveState };
export { Live };

export const LiveContext = createContext<Live>(new Live());

export function useLive(...topics: readonly Topic[]): LiveState {
  const live = useContext(LiveContext);
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const key = topics.join();
  // The key stands for the topics.
  useEffect(() => live.listen(topics, () => redraw(undefined)), [live, key]);
  return live.state;
}

export function useConnection(): Connection {
  useLive("session");
  return useContext(LiveContext).connection;
}

/** The start of the session, from which all times count. */
export function useEpoch(): number {
  return useLive("session").session?.epoch ?? 0;
}
