/**
 * Listens on 127.0.0.1 only. When the wanted port is taken, the next free port serves as well, and the caller learns
 * which one it is.
 */
import type { Server } from "node:net";

/** Other machines cannot connect to it; remote users forward the port through ssh. */
export const LOOPBACK = "127.0.0.1";

/** How many consecutive ports are tried before any free port is taken. */
const NEIGHBOURS = 64;
const LAST_PORT = 65_535;
/** The port is taken, or reserved for root. */
const NOT_THIS: ReadonlySet<string> = new Set(["EADDRINUSE", "EACCES"]);

/** Returns the port that the server listens on. Throws the system's error when no port is available. */
export async function listenNear(server: Server, port: number): Promise<number> {
  for (let next = port; next < port + NEIGHBOURS && next <= LAST_PORT; next++) {
    try {
      return await listen(server, next);
    } catch (error) {
      if (!NOT_THIS.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }
  return listen(server, 0);
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: LOOPBACK }, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
