/** Help, wrong words, closed pipes and terminals. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { shortened, table, wrapped } from "../../src/cli/table.ts";
import { json, printable } from "../../src/cli/terminal.ts";
import { CLI, spillway } from "../support/command-line.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const directory = temporaryDirectory("cli-words");
const env = { XDG_STATE_HOME: join(directory, "state"), TMPDIR: directory };

test.each(COMMANDS.map(({ name }) => name))("[W4] %s --help has its options and examples", (name) => {
  const { stdout, status, stderr } = spillway([name, "--help"]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toMatch(new RegExp(`^Usage: spillway ${name} `));
  expect(stdout).toMatch(new RegExp(`^Examples:\n  spillway ${name}`, "m"));
  expect(spillway(["help", name]).stdout).toBe(stdout);
});

test("[W4] help lists every command, and is what is told without one", () => {
  const { stdout, status } = spillway(["--help"]);
  expect(status).toBe(0);
  for (const { name, summary } of COMMANDS)
    expect(stdout).toMatch(new RegExp(`^  ${name} +${summary.slice(0, 20)}`, "m"));
  for (const words of [[], ["help"], ["-h"]]) expect(spillway(words)).toEqual({ status: 0, stdout, stderr: "" });
});

test("[W4] an unknown command, option or number is one line with what was meant, and exit code 2", () => {
  const wrong = (...words: string[]) => {
    const { status, stdout, stderr } = spillway(words, { env });
    expect({ status, stdout, lines: stderr.split("\n").length }).toEqual({ status: 2, stdout: "", lines: 2 });
    return stderr;
  };
  expect(wrong("memry")).toBe(
    'spillway: there is no command "memry". Did you mean "memory"? spillway --help lists all.\n',
  );
  expect(wrong("memory", "--jsn")).toMatch(/unknown option '--jsn' \(Did you mean --json\?\)\. spillway memory --help/);
  expect(wrong("oom", "--number", "few")).toMatch(/'few' is invalid\. It must be a whole number, at least 1\./);
  expect(wrong("memory")).toMatch(/There are no sessions in .*: run a program that uses Spillway first\./);
  expect(wrong("completion", "ksh")).toMatch(/Allowed choices are bash, zsh, fish\./);
  expect(wrong("\u001b[31mred")).toContain("\\e[31mred");
});

test("[W4] output to a closed pipe ends quietly", () => {
  const command = `"${process.execPath}" "${CLI}" config --json | head -c 1; echo " \${PIPESTATUS[0]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", command], { encoding: "utf8" });
  expect({ stdout, stderr }).toEqual({ stdout: "{ 0\n", stderr: "" });
});

describe("on a terminal", () => {
  const there = spawnSync("script", ["--version"]).status === 0;
  const onTerminal = (columns: number, variables = "") => {
    const command = `stty cols ${columns}; ${variables} "${process.execPath}" "${CLI}" config`;
    const told = spawnSync("script", ["-qec", command, "/dev/null"], {
      env: { ...process.env, TERM: "xterm", NO_COLOR: undefined, FORCE_COLOR: undefined, CI: undefined },
      encoding: "utf8",
    });
    return told.stdout.replaceAll("\r", "").trimEnd().split("\n");
  };

  test.runIf(there)("[W4] tables have its width, and colour unless NO_COLOR says otherwise", () => {
    const lines = onTerminal(60);
    expect(lines[0]?.startsWith("\u001b[1m")).toBe(true);
    expect(Math.max(...lines.slice(1).map((line) => line.length))).toBe(60);
    expect(lines.some((line) => line.includes("…"))).toBe(true);
    expect(onTerminal(60, "NO_COLOR=1").join("\n")).not.toContain("\u001b");
  });

  test("[W4] elsewhere nothing is cut, and there is no colour", () => {
    const { stdout } = spillway(["config"]);
    expect(["…", "\u001b"].filter((mark) => stdout.includes(mark))).toEqual([]);
  });
});

test("[W4] tables take from the widest column first, and escape what a terminal would act on", () => {
  const rows = [
    ["name", "text"],
    ["short", "x".repeat(50)],
    ["\u001b]0;own\u0007", "日本語のテキスト"],
  ];
  expect(table(rows, { width: 30 }).split("\n")).toEqual([
    "name            text",
    "short           xxxxxxxxxxxxx…",
    "\\e]0;own\\u0007  日本語のテキ…",
    "",
  ]);
  expect(shortened("abcdef", 4)).toBe("abc…");
  expect(wrapped("one two three", 7)).toEqual(["one two", "three"]);
  expect(printable("a\nb\u009b1m\u202e")).toBe("a\\nb\\u009b1m\\u202e");
  expect(JSON.parse(json({ name: "\u009b31m\u202e" }))).toEqual({ name: "\u009b31m\u202e" });
  expect(json({ name: "\u009b31m" })).toContain("\\u009b31m");
});
