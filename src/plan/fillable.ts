/** Whether a value can replace the nulls of a column of some SQL type, as in `fillNull(value)`. */

import { isDate, isUint8Array } from "../realm/index.ts";
import type { Literal } from "./expression/index.ts";

const NUMERIC = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\b.*)$/;
const TEMPORAL = /^(DATE|TIMESTAMP\b.*)$/;

export function fillableBy(type: string, value: Literal): boolean {
  switch (typeof value) {
    case "number":
    case "bigint":
      return NUMERIC.test(type);
    case "string":
      return type === "VARCHAR";
    case "boolean":
      return type === "BOOLEAN";
    default:
      if (isDate(value)) return TEMPORAL.test(type);
      return isUint8Array(value) && type === "BLOB";
  }
}
