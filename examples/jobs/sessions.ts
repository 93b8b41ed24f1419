/**
 * Sessions of users: events that were sent twice are dropped, and half an hour of silence ends a session. `sessions.ts
 * events/*.ndjson`
 */
import { col, count, lit, readJson } from "spillway";

interface Event {
  readonly id: string;
  readonly user: string;
  readonly at: Date;
  readonly page: string;
}

const byTime = { partitionBy: "user", orderBy: ["at", "id"] } as const;
const sessions = readJson<Event>(process.argv.slice(2), { schema: { at: "TIMESTAMP" } })
  .distinct("id")
  .withColumn("before", col("at").lag().over(byTime))
  .map((event) => {
    const silence = event.before === null ? Number.POSITIVE_INFINITY : event.at.getTime() - event.before.getTime();
    return { ...event, begins: silence > 30 * 60_000 ? 1 : 0 };
  })
  .withColumn("session", col("begins").sum().over(byTime))
  .groupBy("user", "session")
  .agg({ start: col("at").min(), end: col("at").max(), events: count(), pages: col("page").countDistinct() });
const users = sessions
  .withColumn("bounced", col("events").eq(lit(1)).cast("INTEGER"))
  .groupBy("user")
  .agg({ sessions: count(), events: col("events").sum(), bounced: col("bounced").sum(), longest: col("pages").max() });
console.log(JSON.stringify(await users.sort("user").takeAll()));
