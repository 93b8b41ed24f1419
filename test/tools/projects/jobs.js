// The body of a test file for Jest and vitest alike; what it imports is written above it, as each of them wants it.
const s = session({ workers: 1 });
afterAll(() => s.close());

test("values of every kind go through a function, and what it captured with them", async () => {
  const factor = 3;
  const names = new Map([["a", 1]]);
  const since = new Date(0);
  const pattern = /x+/;
  const weights = Float64Array.of(1, 2, 3);
  const bytes = Buffer.from("hi");
  const failure = new TypeError("captured");
  const cloned = structuredClone({ list: [1, 2], when: new Date(3), map: new Map([["k", new Set([1])]]) });
  const made = {
    id: 1,
    when: new Date(86_400_000),
    data: new Uint8Array([1, 2]),
    list: new Float32Array([1, 2]),
    map: new Map([["k", 1]]),
    big: 2n,
    pair: [1, 2],
  };
  const rows = await s
    .fromItems([made])
    .map((row) => ({
      ...row,
      scaled: scaled(row.id) * factor,
      captured: names.get("a") + weights[2] + bytes.length,
      matches: pattern.test("xx"),
      error: `${failure.name} ${failure.message} ${failure instanceof TypeError}`,
      cloned: cloned.list.length + cloned.when.getTime() + cloned.map.get("k").size,
      later: new Date(row.when.getTime() + since.getTime() + 1),
      maps: new Map([["z", Math.max(1, 2)]]),
      path: join("a", "b"),
      hash: createHash("md5").update("x").digest("hex").length,
      user: typeof process.env.PATH,
    }))
    .takeAll();
  expect(rows.map((row) => ({ ...row, list: Array.from(row.list) }))).toEqual([
    {
      id: 1,
      when: new Date(86_400_000),
      data: new Uint8Array([1, 2]),
      list: [1, 2],
      map: new Map([["k", 1]]),
      big: 2,
      pair: [1, 2],
      scaled: 6,
      captured: 6,
      matches: true,
      error: "TypeError captured true",
      cloned: 6,
      later: new Date(86_400_001),
      maps: new Map([["z", 2]]),
      path: "a/b",
      hash: 32,
      user: "string",
    },
  ]);
  expect(rows[0].when).toBeInstanceOf(Date);
});

test("expressions take values of the program", async () => {
  const times = s.fromItems([{ t: new Date(5) }, { t: new Date(7) }]);
  expect(await times.filter(col("t").gt(new Date(6))).count()).toBe(1);
  const bytes = s.fromItems([{ b: Buffer.from("a") }]);
  expect(await bytes.filter(col("b").eq(new Uint8Array([97]))).count()).toBe(1);
  const made = s
    .range(1)
    .withColumn("list", lit(Float64Array.of(1, 2)))
    .withColumn("d", lit(new Date(0)));
  expect(await made.withColumn("o", lit({ x: 1, m: new Map([["k", 2]]) })).takeAll()).toEqual([
    { id: 0, list: [1, 2], d: new Date(0), o: { x: 1, m: new Map([["k", 2]]) } },
  ]);
});

test("errors are of the package's classes", async () => {
  await expect(s.readParquet("/nowhere/x.parquet").count()).rejects.toBeInstanceOf(SourceError);
  const failing = s.range(3).map((row) => {
    if (row.id === 1) throw new TypeError("one is too many");
    return row;
  });
  await expect(failing.takeAll()).rejects.toBeInstanceOf(FunctionError);
  await expect(failing.takeAll()).rejects.toThrow(/one is too many/);
  expect(() => s.range(1).map(5)).toThrow(/map/);
});

test("async functions, generators, batches and classes", async () => {
  const wait = async (row) => {
    await new Promise((done) => setTimeout(done, 1));
    return { v: row.id };
  };
  expect(await s.range(3).map(wait).takeAll()).toEqual([{ v: 0 }, { v: 1 }, { v: 2 }]);
  function* twice(row) {
    yield row;
    yield row;
  }
  expect(await s.range(2).flatMap(twice).count()).toBe(4);
  const doubled = s.range(3).mapBatches((batch) => ({ x: Float64Array.from(batch.id, (v) => v * 2) }));
  expect(await doubled.takeAll()).toEqual([{ x: 0 }, { x: 2 }, { x: 4 }]);
  class Model {
    constructor(factor) {
      this.factor = factor;
    }
    call(batch) {
      return { y: batch.id.map((v) => v * this.factor) };
    }
  }
  const run = s.range(2).mapBatches(Model, { constructorArgs: [rate.rate] });
  expect(await run.takeAll()).toEqual([{ y: 0 }, { y: 2 }]);
});

test("groups, files and sizes", async () => {
  const home = mkdtempSync(join(tmpdir(), "spillway-test-tool-"));
  try {
    const out = join(home, "out");
    await s.range(9).withColumn("k", col("id").modulo(3)).writeParquet(out);
    const groups = s.readParquet(pathToFileURL(out)).groupBy("k").count().sort("k");
    expect(await groups.takeAll()).toEqual([0, 1, 2].map((k) => ({ k, count: 3 })));
    await expect(s.range(1).writeParquet(out)).rejects.toThrow(/mode/);
  } finally {
    rmSync(home, { recursive: true });
  }
  expect(sizeof(new Map([["k", new Date()]]))).toBeGreaterThan(100);
  expect((await s.range(4).toArrow()).numRows).toBe(4);
});
