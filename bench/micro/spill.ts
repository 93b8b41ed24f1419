/**
 * Spilling and restoring compared with a plain sequential loop: `npx tsx bench/micro/spill.ts [GiB] [directory] [files
 * at once]`. Both move the same bytes between the arena and the same disk, in slices of 1 MiB, and leave nothing in the
 * page cache. The loop runs synchronously and does nothing else. They take turns, and only ratios of the same run are
 * meaningful.
 */
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statfsSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { crc32 } from "node:zlib";
import { decodeLz4Block, encodeLz4Block, lz4Bound } from "../../src/lz4/index.ts";
import { libraryC } from "../../src/native/index.ts";
import { type SpillBlock, type SpillCompression, SpillFiles, type SpillPlace } from "../../src/store/spill/index.ts";

const MIB = 2 ** 20;
const SLICE = MIB;
const WINDOW = 8 * MIB;
const RUNS = 3;
/** Files under way at once, as a scheduler would ask for them; the loop has one. */
const AT_ONCE = Number(process.argv[4] ?? 2);

const total = Number(process.argv[2] ?? 4) * 1024 * MIB;
const directory = mkdtempSync(join(process.argv[3] ?? tmpdir(), "spillway-bench-spill-"));
const arenaDirectory =
  statfsSync("/dev/shm").bavail * statfsSync("/dev/shm").bsize > 2 * total ? "/dev/shm" : directory;
const arenaPath = join(arenaDirectory, `spillway-bench-${process.pid}`);

const syncFileRange = libraryC().declare<[number, number, number, number], number>(
  "int sync_file_range(int fd, int64 offset, int64 length, uint32 flags)",
);
const posixFadvise = libraryC().declare<[number, number, number, number], number>(
  "int posix_fadvise(int fd, int64 offset, int64 length, int advice)",
);

/** Numbers and words in the proportions of a table: LZ4 halves it. */
function content(): Uint8Array {
  const bytes = new Uint8Array(MIB);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < MIB; at += 8) {
    if (at % 16 === 0) view.setFloat64(at, Math.round(Math.random() * 1e4) / 100, true);
    else view.setUint32(at, at, true);
  }
  return bytes;
}

const slice = content();
const sliceSum = crc32(slice);
const scratch = new Uint8Array(SLICE);

function fillArena(): void {
  const fd = openSync(arenaPath, "w");
  for (let at = 0; at < total; at += SLICE) writeSync(fd, slice, 0, SLICE, at);
  closeSync(fd);
}

/** What dd would do: read, write, write behind, drop. Returns the seconds out and the seconds back. */
function loop(fileBytes: number): [number, number] {
  const arena = openSync(arenaPath, "r+");
  const paths: string[] = [];
  const out = seconds(() => {
    for (let at = 0; at < total; at += fileBytes) {
      const path = join(directory, `loop-${at}`);
      paths.push(path);
      const file = openSync(path, "wx");
      let sent = 0;
      for (let done = 0; done < fileBytes; done += SLICE) {
        readSync(arena, scratch, 0, SLICE, at + done);
        writeSync(file, scratch, 0, SLICE, done);
        if ((done + SLICE) % WINDOW !== 0) continue;
        syncFileRange(file, done + SLICE - WINDOW, WINDOW, 2);
        if (sent > 0) drop(file, sent - WINDOW, WINDOW);
        sent = done + SLICE;
      }
      drop(file, 0, fileBytes);
      closeSync(file);
    }
  });
  const back = seconds(() => {
    for (const [index, path] of paths.entries()) {
      const file = openSync(path, "r");
      for (let done = 0; done < fileBytes; done += SLICE) {
        readSync(file, scratch, 0, SLICE, done);
        writeSync(arena, scratch, 0, SLICE, index * fileBytes + done);
        if ((done + SLICE) % WINDOW === 0) posixFadvise(file, done + SLICE - WINDOW, WINDOW, 4);
      }
      posixFadvise(file, 0, 0, 4);
      closeSync(file);
    }
  });
  closeSync(arena);
  for (const path of paths) unlinkSync(path);
  return [out, back];
}

function drop(fd: number, offset: number, length: number): void {
  syncFileRange(fd, offset, length, 7);
  posixFadvise(fd, offset, length, 4);
}

function seconds(work: () => void): number {
  const start = performance.now();
  work();
  return (performance.now() - start) / 1000;
}

interface Ours {
  readonly out: number;
  readonly back: number;
  readonly stored: number;
  readonly delays: string;
}

async function ours(block: number, perFile: number, compression: SpillCompression): Promise<Ours> {
  const files = new SpillFiles({ arenaPath, directories: [join(directory, "ours")], maxSpill: null, compression });
  let checksum = 0;
  for (let at = 0; at < block; at += SLICE) checksum = crc32(slice, checksum);
  const groups: SpillBlock[][] = [];
  for (let at = 0; at < total; at += block * perFile) {
    groups.push(
      Array.from({ length: perFile }, (_, index) => ({
        range: { offset: at + index * block, length: block },
        checksum,
      })),
    );
  }
  const delays = loopDelays();
  const placed: { place: SpillPlace; block: SpillBlock }[] = [];
  let start = performance.now();
  await atOnce(groups, async (group) => {
    const { places } = await files.write(group);
    for (const [index, place] of places.entries()) {
      const written = group[index];
      if (written !== undefined) placed.push({ place, block: written });
    }
  });
  const out = (performance.now() - start) / 1000;
  start = performance.now();
  await atOnce(placed, async ({ place, block: { range } }) => {
    await files.read(place, range, checksum);
  });
  const back = (performance.now() - start) / 1000;
  const delayed = delays();
  const stored = placed.reduce((sum, { place }) => sum + place.stored, 0);
  await files.close();
  return { out, back, stored, delays: delayed };
}

/** Watches the delays of the event loop until the returned function is called. */
function loopDelays(): () => string {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const ms = (nanoseconds: number) => (nanoseconds / 1e6).toFixed(1);
  return () => {
    delay.disable();
    return `p50 ${ms(delay.percentile(50))}, p99 ${ms(delay.percentile(99))}, most ${ms(delay.max)} ms`;
  };
}

async function atOnce<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]();
  const one = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const rate = (time: number) => `${Math.round(total / MIB / time)} MiB/s`.padStart(11);

async function compare(name: string, block: number, perFile: number): Promise<void> {
  const runs: { loop: [number, number]; ours: Ours }[] = [];
  for (let run = 0; run < RUNS; run++) {
    runs.push({ loop: loop(block * perFile), ours: await ours(block, perFile, "none") });
  }
  const out = median(runs.map((run) => run.ours.out));
  const back = median(runs.map((run) => run.ours.back));
  const loopOut = median(runs.map((run) => run.loop[0]));
  const loopBack = median(runs.map((run) => run.loop[1]));
  const ratio = (mine: number, theirs: number) => `ratio ${(mine / theirs).toFixed(2)}`;
  console.log(`${name}: out ${rate(out)}, loop ${rate(loopOut)}, ${ratio(out, loopOut)}`);
  console.log(`${name}: back ${rate(back)}, loop ${rate(loopBack)}, ${ratio(back, loopBack)}`);
  console.log(`${name}: event loop delay ${runs.map((run) => run.ours.delays).join("; ")}`);
}

function pieces(name: string, bytes: number, work: () => void): void {
  const rounds = 200;
  for (let warm = 0; warm < 20; warm++) work();
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round++) work();
  // CPU time and not the clock, because other processes use the machine, too.
  const time = process.cpuUsage(before).user / 1e6;
  const each = ((time / rounds) * 1000).toFixed(2);
  console.log(`${name}: ${Math.round((bytes * rounds) / MIB / time)} MiB/s, ${each} ms each`);
}

mkdirSync(directory, { recursive: true });
try {
  fillArena();
  pieces("crc32 of a slice (1 MiB)", SLICE, () => {
    if (crc32(slice) !== sliceSum) throw new Error("the checksum is off");
  });
  const chunk = slice.subarray(0, 128 * 1024);
  const coded = new Uint8Array(lz4Bound(chunk.length));
  let length = 0;
  pieces("LZ4 of a chunk (128 KiB)", chunk.length, () => {
    length = encodeLz4Block(chunk, coded);
  });
  const decoded = new Uint8Array(chunk.length);
  pieces("LZ4 back", chunk.length, () => void decodeLz4Block(coded, 0, length, decoded, 0));
  const idle = loopDelays();
  await new Promise((done) => setTimeout(done, 3000));
  console.log(`event loop delay with nothing to do: ${idle()}`);
  await compare("32 MiB blocks", 32 * MIB, 1);
  await compare("1 MiB blocks, 32 a file", MIB, 32);
  const { out, back, stored, delays } = await ours(32 * MIB, 1, "lz4");
  console.log(`LZ4, stored ${((100 * stored) / total).toFixed(0)} %: out ${rate(out)}, back ${rate(back)}, ${delays}`);
} finally {
  rmSync(arenaPath, { force: true });
  rmSync(directory, { recursive: true, force: true });
}
