/** What a group function may return (A8): columns, rows, or one row. */
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("group-rows");
const s = sessions.open({ workers: 2, preserveOrder: true });
const sales = s.fromItems([
  { city: "Oslo", sold: 1 },
  { city: "Rome", sold: 2 },
  { city: "Oslo", sold: 3 },
]);

test("[A8] mapGroups takes one row for a group: scalars, and lists beside them", async () => {
  const rows = await sales
    .groupBy("city")
    .mapGroups((group) => ({
      city: group.city[0] ?? "",
      most: Math.max(...group.sold),
      all: [...group.sold],
      none: null,
    }))
    .sort("city")
    .takeAll();
  const typed: { city: string; most: number; all: number[]; none: null }[] = rows;
  expect(typed).toEqual([
    { city: "Oslo", most: 3, all: [1, 3], none: null },
    { city: "Rome", most: 2, all: [2], none: null },
  ]);
});

test("[A8] columns stay columns, generators may mix both, and streams take one row, too", async () => {
  const columns = await sales
    .groupBy("city")
    .mapGroups((group) => ({ sold: group.sold.map((sold) => sold * 2) }))
    .takeAll();
  expect(columns.map(({ sold }) => sold).sort()).toEqual([2, 4, 6]);
  const streamed = await sales
    .groupBy("city")
    .mapGroups(
      async (batches) => {
        let total = 0;
        for await (const batch of batches) for (const sold of batch.sold) total += sold;
        return { total };
      },
      { stream: true },
    )
    .takeAll();
  expect(streamed.map(({ total }) => total).sort()).toEqual([2, 4]);
});
