/** What tasks took is kept for later programs, in a file that may be missing, damaged, foreign or written by others. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KeptAppetites } from "../../src/session/kept-appetites.ts";

const DAY = 86_400_000;
const MIB = 2 ** 20;

let root = "";
let now = 1_000 * DAY;
let notices: string[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "spillway-test-appetites-"));
  now = 1_000 * DAY;
  notices = [];
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const program = () => new KeptAppetites({ root: () => root, now: () => now, notice: (text) => notices.push(text) });
const file = () => join(root, "appetites.json");

function learns(key: string, bytes: number): void {
  const one = program();
  one.keep(key, bytes);
  one.save();
}

describe("[M11] appetites are kept across programs", () => {
  test("in a file of this user alone, which appears whole", () => {
    learns("a", 300 * MIB);
    expect(program().of("a")).toBe(300 * MIB);
    expect(program().of("b")).toBeNull();
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(readdirSync(root)).toEqual(["appetites.json"]);
    expect(notices).toEqual([]);
  });

  test("what other programs have written meanwhile stays", () => {
    const [one, other] = [program(), program()];
    one.of("a");
    other.of("a");
    one.keep("a", MIB);
    other.keep("b", 2 * MIB);
    one.save();
    other.save();
    expect([program().of("a"), program().of("b")]).toEqual([MIB, 2 * MIB]);
  });

  test("nothing is written where nothing new was learned", () => {
    learns("a", 100 * MIB);
    rmSync(file());
    const one = program();
    one.save();
    expect(existsSync(file())).toBe(false);
    learns("a", 100 * MIB);
    const before = statSync(file()).ino;
    learns("a", 110 * MIB);
    expect(statSync(file()).ino).toBe(before);
    learns("a", 50 * MIB);
    expect(program().of("a")).toBe(50 * MIB);
  });

  test("an entry that nobody uses for 30 days is forgotten; a use keeps it", () => {
    learns("used", MIB);
    learns("unused", MIB);
    now += 20 * DAY;
    const one = program();
    expect(one.of("used")).toBe(MIB);
    one.save();
    now += 20 * DAY;
    expect(program().of("used")).toBe(MIB);
    expect(program().of("unused")).toBeNull();
    learns("new", MIB);
    expect(readFileSync(file(), "utf8")).not.toContain("unused");
  });

  test("the thousand entries used last stay", () => {
    const one = program();
    for (let i = 0; i < 1_100; i++) {
      now += 1;
      one.keep(`${i}`.padStart(64, "0"), MIB);
    }
    one.save();
    const { entries } = JSON.parse(readFileSync(file(), "utf8"));
    expect(Object.keys(entries)).toHaveLength(1_000);
    expect(program().of("99".padStart(64, "0"))).toBeNull();
    expect(program().of("100".padStart(64, "0"))).toBe(MIB);
    expect(statSync(file()).size).toBeLessThan(2 ** 18);
  });

  test.each([
    ["cut", '{"version":1,"entries":{"a":{"by'],
    ["not JSON", "\u0000\u0001"],
    ["of other values", '{"version":1,"entries":{"a":{"bytes":-1,"at":5}}}'],
    ["from the future", `{"version":1,"entries":{"a":{"bytes":1,"at":${1e15}}}}`],
    ["an array", "[]"],
    ["huge", " ".repeat(2 ** 18 + 1)],
  ])("a file that is %s is not used, with one notice, and is written anew", (_, text) => {
    writeFileSync(file(), text, { mode: 0o600 });
    const one = program();
    expect(one.of("a")).toBeNull();
    one.keep("a", MIB);
    one.save();
    expect(notices).toHaveLength(1);
    expect(notices[0]).toContain(file());
    expect(program().of("a")).toBe(MIB);
  });

  test("a file that others can write, or a link, is not used", () => {
    const text = JSON.stringify({ version: 1, entries: { a: { bytes: MIB, at: now } } });
    writeFileSync(file(), text);
    execFileSync("chmod", ["0666", file()]);
    expect(program().of("a")).toBeNull();
    rmSync(file());
    writeFileSync(join(root, "elsewhere"), text, { mode: 0o600 });
    symlinkSync(join(root, "elsewhere"), file());
    expect(program().of("a")).toBeNull();
    expect(notices).toHaveLength(2);
    learns("a", 2 * MIB);
    expect(readFileSync(join(root, "elsewhere"), "utf8")).toBe(text);
  });

  test("where it cannot be written, the user is told once, and nothing fails", () => {
    const one = new KeptAppetites({
      root: () => join(root, "missing"),
      now: () => now,
      notice: (t) => notices.push(t),
    });
    one.keep("a", MIB);
    one.save();
    one.keep("b", MIB);
    one.save();
    expect(notices).toEqual([expect.stringContaining("ENOENT")]);
    expect(one.of("a")).toBe(MIB);
  });
});
