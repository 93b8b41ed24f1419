/**
 * The socket that the program and the workers connect to. Opened again if its file vanishes: a cleaner of temporary
 * directories would otherwise keep every new worker out.
 */
import { chmodSync, existsSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";

export class Door {
  #server: Server | null = null;

  constructor(
    private readonly path: string,
    private readonly onSocket: (socket: Socket) => void,
  ) {}

  async open(): Promise<void> {
    const server = createServer(this.onSocket);
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.path, resolve);
    });
    chmodSync(this.path, 0o600);
  }

  /** Its directory must exist. Existing connections stay. */
  async openAgain(): Promise<void> {
    if (this.#server === null || existsSync(this.path)) return;
    // Closed first, because closing removes the file at the path.
    this.close();
    await this.open();
  }

  close(): void {
    this.#server?.close();
    this.#server = null;
  }
}
