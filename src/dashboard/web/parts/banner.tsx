/** Says when the page is not live, and what was left out. */
import { clock, count, plural } from "../format.ts";
import { useConnection, useLive } from "../live/index.ts";

export function Banner() {
  const { session } = useLive("session");
  const connection = useConnection();
  return (
    <div class="banners" role="status">
      {connection === "lost" && session?.status !== "ended" && (
        <p class="banner bad">
          The connection to the dashboard is lost: it is tried again every few seconds. What is shown was true
          {session === null ? " before" : ` at ${clock(session.epoch, session.at)}`}.
        </p>
      )}
      <Ended />
      {session !== null && <LeftOut />}
    </div>
  );
}

function Ended() {
  const { session } = useLive("session");
  const connection = useConnection();
  if (session === null || session.status === "running") return null;
  const at = clock(session.epoch, session.at);
  if (session.status === "killed") {
    return (
      <p class="banner bad">
        This session was killed: its supervisor wrote no end. Its last event is of {at}, and figures are as of then.
      </p>
    );
  }
  return (
    <p class="banner">
      This session ended at {at}: all its figures are final.
      {connection === "lost" && (
        <>
          {" "}
          Its dashboard ended with it; <code>spillway dashboard {session.name}</code> shows it again, with all pages.
        </>
      )}
    </p>
  );
}

function LeftOut() {
  const { session } = useLive("session");
  if (session === null) return null;
  const { events, jobs, happened } = session.leftOut;
  const parts = [
    events > 0 ? `${plural(events, "event")} that came faster than they could be read` : "",
    jobs > 0 ? `${plural(jobs, "older job")}` : "",
    happened > 0 ? `${count(happened)} older lines of what happened` : "",
  ].filter((part) => part !== "");
  if (parts.length === 0) return null;
  return <p class="banner quiet">Left out: {parts.join(", ")}. The session's event file has all of it.</p>;
}
