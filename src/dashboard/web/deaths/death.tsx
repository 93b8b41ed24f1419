/** Everything known about one death or retry. */
import type { DeathCard } from "../../api.ts";
import { bytes, clock, count, percent, plural, short } from "../format.ts";
import { useEpoch } from "../live/index.ts";
import { Remedies } from "../parts/findings.tsx";
import { Panel } from "../parts/panel.tsx";
import { address } from "../route.ts";
import { MemoryCurve } from "./memory-curve.tsx";
import { deathTitle, endWords } from "./words.ts";

const FILES = 10;

export function Death({ card }: { readonly card: DeathCard }) {
  const epoch = useEpoch();
  return (
    <Panel
      title={deathTitle(card)}
      class={`death ${card.isMemory ? "of-memory" : ""}`}
      aside={<time>{clock(epoch, card.at, true)}</time>}
    >
      <div class="death-body">
        <div>
          <Facts card={card} />
          {card.remedies.length > 0 && (
            <>
              <h3>What to do</h3>
              <Remedies remedies={card.remedies} />
            </>
          )}
          {card.attempts.length > 0 && <Attempts card={card} epoch={epoch} />}
        </div>
        <div>
          <Curves card={card} epoch={epoch} />
          <Users card={card} />
        </div>
      </div>
    </Panel>
  );
}

function Facts({ card }: { readonly card: DeathCard }) {
  const peak = card.curve.reduce((most, [, size]) => Math.max(most, size), 0);
  return (
    <dl class="facts">
      {card.why !== null && (
        <div>
          <dt>Why</dt>
          <dd>
            <bdi>{short(card.why, 2000)}</bdi>
          </dd>
        </div>
      )}
      <div>
        <dt>Operator</dt>
        <dd>{card.operator === null ? "none: it had no task" : <bdi>{short(card.operator, 300)}</bdi>}</dd>
      </div>
      <div>
        <dt>Task</dt>
        <dd>{card.task ?? "none"}</dd>
      </div>
      {card.files.length > 0 && (
        <div>
          <dt>Files</dt>
          <dd>
            {card.files.slice(0, FILES).map((file) => (
              <bdi key={file} class="file">
                {short(file, 300)}
              </bdi>
            ))}
            {card.files.length > FILES && `and ${plural(card.files.length - FILES, "more file")}`}
          </dd>
        </div>
      )}
      <div>
        <dt>Memory</dt>
        <dd>
          {peak > 0 ? bytes(peak) : "not read"}
          {card.limit !== null &&
            ` of its limit ${bytes(card.limit)}${peak > 0 ? `, ${percent(peak / card.limit)}` : ""}`}
        </dd>
      </div>
      {card.node !== null && (
        <div>
          <dt>Node</dt>
          <dd>
            {bytes(card.node.used)} of {bytes(card.node.total)}, {percent(card.node.used / card.node.total)}
            {card.node.threshold !== null && `; workers are ended above ${percent(card.node.threshold)}`}
          </dd>
        </div>
      )}
      <div>
        <dt>End</dt>
        <dd>{endWords(card)}</dd>
      </div>
      <div>
        <dt>Ran beside it</dt>
        <dd>
          {card.beside.length === 0 && "nothing"}
          {card.beside.slice(0, FILES).map(({ worker, operator, private: size }) => (
            <span key={worker} class="beside">
              <a href={address("workers", worker)}>worker {worker}</a>: <bdi>{short(operator, 120)}</bdi>, {bytes(size)}
            </span>
          ))}
          {card.beside.length > FILES && `and ${plural(card.beside.length - FILES, "more worker")}`}
        </dd>
      </div>
      <Links card={card} />
    </dl>
  );
}

function Links({ card }: { readonly card: DeathCard }) {
  return (
    <div>
      <dt>See</dt>
      <dd>
        {card.log === null ? (
          "no log"
        ) : (
          <a href={address("logs", card.log)}>
            its log<span class="sr"> {card.log}</span>
          </a>
        )}
        {" · "}
        {card.profile === null ? (
          "no heap profile: the page Workers takes one of a running worker"
        ) : (
          <a href={address("profiles", card.profile)}>
            its last heap profile<span class="sr"> {card.profile}</span>
          </a>
        )}
      </dd>
    </div>
  );
}

function Attempts({ card, epoch }: { readonly card: DeathCard; readonly epoch: number }) {
  return (
    <>
      <h3>What each attempt asked for</h3>
      <ol class="attempts">
        {card.attempts.map(({ at, text }) => (
          <li key={`${at}${text}`}>
            <time>{clock(epoch, at)}</time> <bdi>{short(text, 600)}</bdi>
          </li>
        ))}
      </ol>
    </>
  );
}

function Curves({ card, epoch }: { readonly card: DeathCard; readonly epoch: number }) {
  const threshold = card.node?.threshold ?? null;
  return (
    <div class="curves">
      <MemoryCurve
        title={`Private memory of ${card.worker === null ? "the worker" : `worker ${card.worker}`}`}
        points={card.curve}
        end={card.at}
        epoch={epoch}
        line={card.limit === null ? null : { at: card.limit, label: `limit ${bytes(card.limit)}` }}
        tone="red-1"
      />
      <MemoryCurve
        title="Memory in use on the node"
        points={card.nodeCurve}
        end={card.at}
        epoch={epoch}
        line={
          card.node === null
            ? null
            : {
                at: card.node.total * (threshold ?? 1),
                label: threshold === null ? `all ${bytes(card.node.total)}` : `threshold ${percent(threshold)}`,
              }
        }
        tone="blue-1"
      />
    </div>
  );
}

function Users({ card }: { readonly card: DeathCard }) {
  if (card.users.length === 0) return null;
  const most = Math.max(1, ...card.users.map((user) => user.private));
  return (
    <>
      <h3>Who used the memory</h3>
      <table class="data users">
        <caption class="sr">Processes with the most private memory at that moment</caption>
        <thead>
          <tr>
            <th scope="col">Process</th>
            <th scope="col" class="number">
              Pid
            </th>
            <th scope="col" class="number">
              Private
            </th>
          </tr>
        </thead>
        <tbody>
          {card.users.map(({ pid, name, private: size }) => (
            <tr key={pid} class={pid === card.pid ? "chosen" : ""}>
              <th scope="row">
                <span class="user-bar" style={{ width: `${(size / most) * 100}%` }} aria-hidden="true" />
                <span class="user-name">
                  <bdi>{short(name, 120)}</bdi>
                  {pid === card.pid && " (this one)"}
                </span>
              </th>
              <td class="number">{pid}</td>
              <td class="number">{bytes(size)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="sr">{count(card.users.length)} processes.</p>
    </>
  );
}
