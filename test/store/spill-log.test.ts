import { expect, test } from "vitest";
import { noticeText } from "../../src/notices/index.ts";
import type { Notice } from "../../src/protocol/index.ts";
import { SpillLog } from "../../src/store/spill/index.ts";

const MIB = 2 ** 20;

function textOf(notice: Notice | null): string | null {
  return notice === null ? null : noticeText(notice);
}

test("[D2] totals at the first spill and at each doubling, with process and host", () => {
  const log = new SpillLog(4711, "host-name");
  expect(textOf(log.spilled(100 * MIB, 2, 0.5))).toBe(
    "Spilled 100 MiB, 2 objects, write throughput 200 MiB/s. (supervisor 4711 on host-name)",
  );
  expect(log.spilled(99 * MIB, 1, 0.5)).toBe(null);
  expect(textOf(log.spilled(1 * MIB, 1, 1))).toBe(
    "Spilled 200 MiB, 4 objects, write throughput 100 MiB/s. (supervisor 4711 on host-name)",
  );
  expect(log.spilled(199 * MIB, 1, 0)).toBe(null);
  expect(textOf(log.spilled(1001 * MIB, 1, 0))).toMatch(/^Spilled 1400 MiB, 6 objects, write throughput 700 MiB\/s\./);
  expect(log.spilled(1399 * MIB, 1, 0)).toBe(null);
});

test("[D2] the first line comes with the first MiB, and has all that was before it", () => {
  const log = new SpillLog(4711, "host-name");
  expect(log.spilled(MIB / 4, 3, 0.25)).toBe(null);
  expect(log.spilled(MIB / 2, 1, 0.25)).toBe(null);
  expect(log.restored(MIB - 1, 1, 0.1)).toBe(null);
  expect(textOf(log.spilled(MIB / 4, 1, 0.5))).toMatch(/^Spilled 1 MiB, 5 objects, write throughput 1 MiB\/s\./);
});

test("[D2] one object is one object", () => {
  const log = new SpillLog(4711, "host-name");
  expect(textOf(log.spilled(2 * MIB, 1, 1))).toMatch(/^Spilled 2 MiB, 1 object, write/);
});

test("[D2] restores are counted apart from spills", () => {
  const log = new SpillLog(4711, "host-name");
  log.spilled(1000 * MIB, 10, 1);
  expect(textOf(log.restored(120 * MIB, 3, 0.15))).toBe(
    "Restored 120 MiB, 3 objects, read throughput 800 MiB/s. (supervisor 4711 on host-name)",
  );
  expect(log.restored(119 * MIB, 3, 0.15)).toBe(null);
  expect(textOf(log.restored(MIB, 1, 0.15))).toMatch(/^Restored 240 MiB, 7 objects/);
});

test("[D2] heavy spilling adds the remedies", () => {
  const log = new SpillLog(1, "h");
  expect(textOf(log.spilled(10_240 * MIB, 9, 29.375))).toBe(
    "Spilled 10240 MiB, 9 objects, write throughput 349 MiB/s. (supervisor 1 on h)",
  );
  expect(log.spilled(MIB, 1, 1)).toBe(null);
  expect(textOf(log.spilled(10_240 * MIB, 9, 29.375))).toBe(
    "Spilled 20481 MiB, 19 objects, write throughput 343 MiB/s. (supervisor 1 on h) This is heavy spilling: more memory " +
      "per CPU, more machines, or a local NVMe directory (localDirectory) make it faster.",
  );
});
