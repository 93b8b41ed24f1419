/** SQL on several lines: the same SQL, nothing cut. */
import { afterAll, describe, expect, test } from "vitest";
import { Kernel } from "../../src/kernel/index.ts";
import { sqlLines } from "../../src/stages/sql/layout.ts";

const kernel = Kernel.open({ threads: 1 });
const connection = kernel.connect();
afterAll(() => {
  connection.close();
  kernel.close();
});

const LONG = "a".repeat(100);

describe("[O7] SQL for people", () => {
  test("[O7] a short text stays on its line", () => {
    expect(sqlLines(`SELECT "a" FROM {input} WHERE ("a" > 1)`)).toEqual([`SELECT "a" FROM {input} WHERE ("a" > 1)`]);
  });

  test("[O7] clauses and inner queries have lines of their own", () => {
    const inner = `SELECT DISTINCT k, count(*) AS n FROM range(9) t(k) LEFT OUTER JOIN range(3) u(m) ON m = k WHERE k IS DISTINCT FROM 5 GROUP BY 1`;
    expect(sqlLines(`SELECT * FROM (${inner}) ORDER BY row_number() OVER (ORDER BY k DESC) LIMIT 3`)).toEqual([
      "SELECT *",
      "FROM (",
      "  SELECT DISTINCT k, count(*) AS n",
      "  FROM range(9) t(k)",
      "  LEFT OUTER JOIN range(3) u(m) ON m = k",
      "  WHERE k IS DISTINCT FROM 5",
      "  GROUP BY 1",
      ")",
      "ORDER BY row_number() OVER (ORDER BY k DESC)",
      "LIMIT 3",
    ]);
  });

  test.each([
    `SELECT '${LONG} FROM ( x', "${LONG} WHERE )" FROM (SELECT 1 AS "${LONG} WHERE )")`,
    `SELECT left('${LONG}', 3), extract(year FROM DATE '2020-01-01'), trim(both 'x' from 'xax') FROM range(3) WHERE range IN (SELECT 1 UNION ALL SELECT 2)`,
    `SELECT $$it's ( ${LONG}$$ AS a, /* ( ' */ 1 AS b FROM ((SELECT 1 AS x) UNION ALL (SELECT 2 AS x)) GROUP BY ALL`,
    `SELECT 1 AS a -- FROM (\n, '${LONG}' AS b`,
    `SELECT list_filter((SELECT list(range) FROM range(9)), lambda x: x > 3) AS "${LONG}"`,
  ])("[O7] means the same, whatever is quoted: %s", (sql) => {
    expect(connection.all(sqlLines(sql).join("\n"))).toEqual(connection.all(sql));
    expect(sqlLines(sql).join("").replace(/\s/g, "")).toBe(sql.replace(/\s/g, ""));
  });

  test("[O7] long lists go on in the next line", () => {
    const list = Array.from({ length: 40 }, (_, i) => `${i} AS "column ${i}"`).join(", ");
    const lines = sqlLines(`SELECT ${list} FROM range(3)`);
    expect(lines[0]?.startsWith(`SELECT 0 AS "column 0", 1 AS`)).toBe(true);
    expect(lines[1]?.startsWith("  ")).toBe(true);
    expect(lines.at(-1)).toBe("FROM range(3)");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(140);
    expect(lines.map((line) => line.trim()).join(" ")).toBe(`SELECT ${list} FROM range(3)`);
  });

  test("[O7] SQL that is none is shown all the same", () => {
    expect(sqlLines(`)) ' (( ${LONG}`).join("")).toContain(LONG);
  });
});
