/** Ours: a function computes the key of each row; the groups are counted and summed. */
import { col, count } from "spillway";
import { timed } from "./program.ts";
import { answerOfRows } from "./rows-answer.ts";

interface LineItem {
  l_extendedprice: number;
  l_discount: number;
  l_comment: string;
}

await timed(async (session, job) =>
  answerOfRows(
    await session
      .readParquet<LineItem>([...job.files.lineitem], { columns: ["l_extendedprice", "l_discount", "l_comment"] })
      .map((row) => ({
        word: row.l_comment.split(" ", 1)[0]?.toUpperCase() ?? "",
        revenue: row.l_extendedprice * (1 - row.l_discount),
      }))
      .groupBy("word")
      .agg({ lines: count(), revenue: col("revenue").sum() })
      .sort("word")
      .takeAll(),
  ),
);
