/** Whose lines hold the memory: a user's TypeScript program, run as such. */
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import type { ProfileFile, ProfileNode } from "../../src/profile/index.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { bytesWhere, lineOf, profilesIn, readProfile, runScript, total, viewOf } from "./reading.ts";

const MIB = 2 ** 20;
const script = fileURLToPath(new URL("fixtures/hold.ts", import.meta.url));
const stateHome = temporaryDirectory("profile-attribution");

describe("200 MB of buffers and 100 MB of objects", () => {
  let path: string;
  let profile: ProfileFile;

  beforeAll(async () => {
    const local = join(stateHome, "local");
    mkdirSync(local);
    expect(await runScript(script, ["200", "100", local], stateHome)).toBe("1 run\n");
    [path = ""] = profilesIn(join(stateHome, "spillway"));
    profile = readProfile(path);
  });

  test("[M8] at least 90 % of both are attributed to the lines that hold them", () => {
    const url = pathToFileURL(script).href;
    const line = lineOf(script, "the line of the buffers");
    const maker = lineOf(script, "The function of the objects") + 1;
    const at = ({ callFrame }: ProfileNode, wanted: number) => callFrame.url === url && callFrame.lineNumber === wanted;
    for (const name of ["peak", "end", "leaked"]) {
      const view = viewOf(profile, name);
      const buffers = bytesWhere(view, (node) => node.kind === "buffer" && at(node, line));
      expect(buffers / (200 * MIB), name).toBeGreaterThan(0.9);
      expect(buffers / (200 * MIB), name).toBeLessThan(1.1);
      const objects = bytesWhere(view, (node) => node.callFrame.functionName === "holdObjects" && at(node, maker));
      expect(objects / (100 * MIB), name).toBeGreaterThan(0.9);
      // With what the array has to spare.
      expect(objects / (100 * MIB), name).toBeLessThan(1.3);
    }
  });

  test("[M8] the whole is the worker's memory: what is not attributed has a name", () => {
    const sum = total(profile.head);
    expect(sum / profile.spillway.peak).toBeGreaterThan(0.95);
    expect(sum / profile.spillway.peak).toBeLessThan(1.1);
    const names = profile.head.children.map(({ callFrame }) => callFrame.functionName);
    expect(names).toContain("Node and libraries, as before the profile");
    expect(bytesWhere(profile.head, ({ kind }) => kind === "unattributed") / sum).toBeLessThan(0.2);
  });

  test("[M8] the curve rises to the peak", () => {
    expect(profile.curve.length).toBeGreaterThan(10);
    const highest = Math.max(...profile.curve.map(([, bytes]) => bytes));
    // The first point has the garbage of the worker's start (30 MiB on Node 22), which is collected meanwhile.
    expect(highest - (profile.curve[0]?.[1] ?? 0)).toBeGreaterThan(0.85 * 300 * MIB);
    expect(profile.spillway.peak / highest).toBeGreaterThan(0.9);
  });

  test("[M8] the file has the shape of V8's sampling profiles, and only its user reads it", () => {
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    const ids = new Set<number>();
    const check = ({ callFrame, selfSize, id, children }: ProfileNode): void => {
      expect(typeof callFrame.functionName).toBe("string");
      expect(typeof callFrame.scriptId).toBe("string");
      expect(typeof callFrame.url).toBe("string");
      expect(Number.isInteger(callFrame.lineNumber) && Number.isInteger(callFrame.columnNumber)).toBe(true);
      expect(Number.isInteger(selfSize) && selfSize >= 0).toBe(true);
      expect(ids.has(id)).toBe(false);
      ids.add(id);
      for (const child of children) check(child);
    };
    check(profile.head);
    expect(profile.head.callFrame.functionName).toBe("(root)");
    for (const { nodeId, size, ordinal } of profile.samples) {
      expect(ids).toContain(nodeId);
      expect(size).toBeGreaterThan(0);
      expect(Number.isInteger(ordinal)).toBe(true);
    }
    expect(profile.samples.reduce((sum, { size }) => sum + size, 0)).toBe(total(profile.head));
  });
});
