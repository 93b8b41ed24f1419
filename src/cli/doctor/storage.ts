/** Examines shared memory, the directories for spilled blocks, and the directory of the logs. */
import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { whyTaken } from "../../files/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { messageOf } from "../../realm/index.ts";
import { statePlace } from "../../session/state-root.ts";
import { SHARED_MEMORY } from "../../store/index.ts";
import { sessionDirectory } from "../../supervisor/index.ts";
import { formatSize } from "../../units/index.ts";
import { type Finding, good, note, wrong } from "./finding.ts";

/** Magic numbers of the file systems that matter here. */
const FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x01021994, "tmpfs"],
  [0xef53, "ext4"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x2fc12fc1, "zfs"],
  [0x794c7630, "overlay"],
  [0x6969, "nfs"],
  [0xff534d42, "cifs"],
  [0xfe534d42, "smb2"],
  [0x65735546, "fuse"],
]);
const OVER_NETWORK: ReadonlySet<string> = new Set(["nfs", "cifs", "smb2"]);
/** Room for the logs and events of ten sessions. */
const LOGS: Bytes = 200 * 2 ** 20;

interface Disk {
  readonly free: Bytes;
  readonly type: string;
}

export function sharedMemory(capacity: Bytes): Finding {
  if (!existsSync(SHARED_MEMORY)) return note(SHARED_MEMORY, "missing: the store is a file", "Mount a tmpfs there.");
  const { free } = diskOf(SHARED_MEMORY);
  const text = `${formatSize(free)} free for the store's ${formatSize(capacity)}`;
  if (free >= capacity) return good(SHARED_MEMORY, text);
  const remedy = `The store would be a file on disk, which is slower. Enlarge it (docker run --shm-size ${formatSize(capacity).replace(" ", "")}), or set objectStoreMemory below ${formatSize(free)}.`;
  return wrong(SHARED_MEMORY, text, remedy);
}

/** A missing directory is made by the session that needs it. */
export function spillDirectory(path: string, capacity: Bytes): Finding {
  const subject = `spilling to ${path}`;
  const there = existing(path);
  const refused = whyNotWritable(there);
  if (refused !== null) return wrong(subject, refused, "Make it writable, or set another localDirectory.");
  const taken = whyTaken(dirname(sessionDirectory({ localDirectory: path, session: "any" })));
  const { free, type } = diskOf(there);
  const text = `${formatSize(free)} free, ${type}${taken === null ? "" : `; its directory for sessions ${taken}`}`;
  if (taken !== null)
    return note(subject, text, "Sessions use a directory beside it. Remove it, or set another localDirectory.");
  if (type === "tmpfs")
    return wrong(subject, text, "That is memory: spilling there frees none. Set localDirectory to a disk.");
  if (free < capacity) {
    return wrong(
      subject,
      text,
      `Less than the store's ${formatSize(capacity)}. Free space, or set another localDirectory.`,
    );
  }
  if (OVER_NETWORK.has(type)) return note(subject, text, "A local disk, best NVMe, is much faster (localDirectory).");
  return good(subject, text);
}

export function logsDirectory(): Finding {
  let place: ReturnType<typeof statePlace>;
  try {
    place = statePlace();
  } catch (error) {
    return wrong("logs", messageOf(error), "Set XDG_STATE_HOME to a directory of your own.");
  }
  const there = existing(place.root);
  const subject = `logs in ${place.root}`;
  const refused = whyNotWritable(there);
  if (refused !== null) return wrong(subject, refused, "Make it writable, or set XDG_STATE_HOME.");
  const { free } = diskOf(there);
  if (free < LOGS) return wrong(subject, `${formatSize(free)} free`, "Free space, or set XDG_STATE_HOME.");
  return place.notice === null
    ? good(subject, `${formatSize(free)} free`)
    : note(subject, place.notice, "Set XDG_STATE_HOME to a directory of your own.");
}

function diskOf(path: string): Disk {
  const { bavail, bsize, type } = statfsSync(path);
  return { free: bavail * bsize, type: FILE_SYSTEMS.get(type) ?? `file system 0x${type.toString(16)}` };
}

/** The path, or its nearest parent that exists. */
function existing(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existing(dirname(path));
}

function whyNotWritable(path: string): string | null {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
