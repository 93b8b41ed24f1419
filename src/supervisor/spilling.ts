/**
 * Carries out the scheduler's orders to spill and restore, and reports the results as events. Also prints the lines
 * about spilling for users (D2).
 */
import { hostname } from "node:os";
import { SpillDamagedError, toWire } from "../errors/index.ts";
import type { Notice } from "../protocol/index.ts";
import type { Command, Event } from "../scheduler/index.ts";
import { type RestoreOrder, type SpillFiles, SpillLog, type SpillOrder } from "../store/index.ts";
import type { SupervisorOptions } from "./options.ts";
import type { OwnDirectory } from "./own-directory.ts";
import { identify } from "./process-identity.ts";
import { OWNER_FILE } from "./session-files.ts";

type SpillCommand = Extract<Command, { type: "spill" | "restore" | "unspill" }>;

export class Spilling {
  #files: Promise<SpillFiles> | null = null;
  readonly #log = new SpillLog(process.pid, hostname());

  constructor(
    private readonly options: Pick<SupervisorOptions, "maxSpill" | "spillCompression">,
    private readonly own: OwnDirectory,
    private readonly arenaPath: string,
    private readonly tell: (event: Event) => void,
    private readonly notice: (notice: Notice) => void,
  ) {}

  carryOut(command: SpillCommand): void {
    switch (command.type) {
      case "spill":
        void this.#write(command.blocks);
        return;
      case "restore":
        void this.#read(command.block);
        return;
      case "unspill":
        void this.#open().then((files) => {
          for (const place of command.places) files.free(place);
        });
        return;
    }
  }

  /** Waits for running work, and removes all files. */
  async close(): Promise<void> {
    await (await this.#files)?.close();
  }

  /** Loaded at the first spill, so that sessions that never spill start faster. */
  #open(): Promise<SpillFiles> {
    this.#files ??= this.#load();
    return this.#files;
  }

  async #load(): Promise<SpillFiles> {
    const { SpillFiles } = await import("../store/spill/index.ts");
    const { maxSpill, spillCompression } = this.options;
    const label = { name: OWNER_FILE, text: JSON.stringify(identify(process.pid)) };
    return new SpillFiles({
      arenaPath: this.arenaPath,
      directories: this.own.spill,
      maxSpill,
      compression: spillCompression,
      label,
      check: (directory) => this.own.check(directory),
    });
  }

  async #write(blocks: readonly SpillOrder[]): Promise<void> {
    let event: Event;
    try {
      const { places, seconds } = await (await this.#open()).write(blocks);
      const bytes = blocks.reduce((sum, { range }) => sum + range.length, 0);
      this.#say(this.#log.spilled(bytes, blocks.length, seconds));
      const written = blocks.flatMap(({ id }, i) => {
        const place = places[i];
        return place === undefined ? [] : [{ id, place }];
      });
      event = { type: "spilled", blocks: written };
    } catch (error) {
      event = { type: "notSpilled", blocks: blocks.map(({ id }) => id), error: toWire(error) };
    }
    this.tell(event);
  }

  async #read({ id, place, range, checksum }: RestoreOrder): Promise<void> {
    let event: Event;
    try {
      const seconds = await (await this.#open()).read(place, range, checksum);
      this.#say(this.#log.restored(range.length, 1, seconds));
      event = { type: "restored", block: id };
    } catch (error) {
      const type = error instanceof SpillDamagedError ? "damaged" : "notRestored";
      event = { type, block: id, error: toWire(error) };
    }
    this.tell(event);
  }

  #say(notice: Notice | null): void {
    if (notice !== null) this.notice(notice);
  }
}
