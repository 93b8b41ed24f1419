/**
 * How a value was reached from the function that is being captured, so that an error can name `cfg.client.socket` and
 * its place.
 */
import { CaptureError } from "../errors/index.ts";

export interface Trail {
  /** The variable, or ".client", "[3]" below it. */
  readonly name: string;
  readonly within: Trail | null;
  /** The object that has it as a property: `this` in an arrow function that the object's constructor made. */
  readonly holder: object | null;
  /** Where the variable is used, in the user's own source. */
  readonly where: string | null;
  /** The function that uses it, and how that function was reached. */
  readonly user: string;
  readonly userTrail: Trail | null;
  /** It is the function that is being captured. */
  readonly isCaptured?: boolean;
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

export function below(trail: Trail, key: string | symbol | number, holder: object | null): Trail {
  const name =
    typeof key === "symbol"
      ? `[${String(key)}]`
      : typeof key === "string" && IDENTIFIER.test(key)
        ? `.${key}`
        : `[${/^\d+$/.test(String(key)) ? key : JSON.stringify(key)}]`;
  return { ...trail, name, within: trail, holder, isCaptured: false };
}

function showTrail(trail: Trail): string {
  let text = "";
  for (let at: Trail | null = trail; at !== null; at = at.within) text = at.name + text;
  return text;
}

/** Of the captured function itself ("") or of a property (".client") of one without a name: the rest of the path. */
function ownPart(trail: Trail): string | null {
  if (trail.within === null) return trail.isCaptured === true ? "" : null;
  const rest = ownPart(trail.within);
  return rest === null || trail.user !== "" ? null : rest + trail.name;
}

/** Refuses a value. `what` continues "…, which is"; the remedy is a whole sentence. */
export function refuse(operator: string, trail: Trail, what: string, remedy: string): CaptureError {
  const variable = showTrail(trail);
  const own = ownPart(trail);
  const place = trail.where === null ? "" : ` (${trail.where})`;
  const user = trail.user === "" ? "its function" : `the function "${trail.user}"`;
  if (own === "") {
    return new CaptureError(
      `${operator}: ${user}${place} is ${what} and cannot travel to a worker. ${remedy}`,
      variable,
      trail.where,
    );
  }
  const through: string[] = [];
  for (let at = trail.userTrail; at?.userTrail; at = at.userTrail) through.unshift(showTrail(at));
  const via = through.length === 0 || through.join() === trail.user ? "" : `, reached through ${through.join(" → ")},`;
  return new CaptureError(
    `${operator}: ${user}${via} uses "${own ?? variable}"${place}, which is ${what} and cannot travel to a worker. ${remedy}`,
    variable,
    trail.where,
  );
}

export const AWAIT_IT = "Await it before, and let the function use what it gives.";

export const OPEN_INSIDE =
  "Open it inside the function, or once per worker in the constructor of a class function: mapBatches(Class).";
