/** Names of operators as people read them. */
import { expect, test } from "vitest";
import { operatorTitle } from "../../src/titles/index.ts";

test("[O10] a title has the names of the functions, each at its part, with or without functions that have no name", () => {
  expect(operatorTitle("range->map->filter", ["map(addTax)", "filter(isLate)"])).toBe(
    "range->map(addTax)->filter(isLate)",
  );
  expect(operatorTitle("range->map->map", ["map", "map(fare)"])).toBe("range->map->map(fare)");
  expect(operatorTitle("readParquet->filter->map", ["map(fare)"])).toBe("readParquet->filter->map(fare)");
  expect(operatorTitle("mapBatches->map", ["mapBatches(Tips)", "map(fare)"])).toBe("mapBatches(Tips)->map(fare)");
  expect(operatorTitle("sort", [])).toBe("sort");
});
