/**
 * Type names (`DECIMAL(10, 2)`, `STRUCT(a INTEGER, "b c" VARCHAR[])`) come from users and go into SQL text, so their
 * spelling is checked here. The kernel decides whether the type exists.
 */
import { OptionError } from "../../errors/index.ts";

const TOKEN = /\s+|[A-Za-z_][A-Za-z0-9_]*|"(?:[^"]|"")*"|[0-9]+|[(),[\]]/y;

export function checkTypeName(type: string, where: string): string {
  if (typeof type !== "string") throw refused(type, where);
  TOKEN.lastIndex = 0;
  let depth = 0;
  for (let at = 0; at < type.length; at = TOKEN.lastIndex) {
    const token = TOKEN.exec(type)?.[0];
    if (token === undefined) throw refused(type, where);
    if (token === "(" || token === "[") depth++;
    if (token === ")" || token === "]") depth--;
    if (depth < 0) throw refused(type, where);
  }
  if (depth !== 0 || !/^\s*[A-Za-z"]/.test(type)) throw refused(type, where);
  return type.trim();
}

function refused(type: unknown, where: string): OptionError {
  return new OptionError(
    `${where}: ${JSON.stringify(type) ?? String(type)} is not a type name. Use an SQL type: "BIGINT", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP", "DECIMAL(12, 2)", "INTEGER[]", …`,
  );
}
