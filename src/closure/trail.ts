/** How a value was reached from the function being captured, so that an error can say `cfg.client.socket` and where. */
import { CaptureError } from "../errors/index.ts";

export interface Trail {
  /** The variable, or ".client", "[3]" below it. */
  readonly name: string;
  readonly within: Trail | null;
  /** The object that holds it as a property: what `this` means in an arrow function made by its constructor. */
  readonly holder: object | null;
  /** Where the variable is used, in the user's own source. */
  readonly where: string | null;
  /** The function that uses it, and how that one was reached. */
  readonly user: string;
  readonly userTrail: Trail | null;
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

export function below(trail: Trail, key: string | symbol | number, holder: object | null): Trail {
  const name =
    typeof key === "symbol"
      ? `[${String(key)}]`
      : typeof key === "string" && IDENTIFIER.test(key)
        ? `.${key}`
        : `[${/^\d+$/.test(String(key)) ? key : JSON.stringify(key)}]`;
  return { ...trail, name, within: trail, holder };
}

function showTrail(trail: Trail): string {
  let text = "";
  for (let at: Trail | null = trail; at !== null; at = at.within) text = at.name + text;
  return text;
}

/** Refuses a value. `what` continues "…, which is"; the remedy is a whole sentence. */
export function refuse(operator: string, trail: Trail, what: string, remedy: string): CaptureError {
  const variable = showTrail(trail);
  const place = trail.where === null ? "" : ` (${trail.where})`;
  const user = trail.user === "" ? "its function" : `the function "${trail.user}"`;
  const through: string[] = [];
  for (let at = trail.userTrail; at?.userTrail; at = at.userTrail) through.unshift(showTrail(at));
  const via = through.length === 0 ? "" : `, reached through ${through.join(" → ")},`;
  return new CaptureError(
    `${operator}: ${user}${via} uses "${variable}"${place}, which is ${what} and cannot travel to a worker. ${remedy}`,
    variable,
    trail.where,
  );
}

export const AWAIT_IT = "Await it before, and let the function use what it gives.";

export const OPEN_INSIDE =
  "Open it inside the function, or once per worker in the constructor of a class function: mapBatches(Class).";
