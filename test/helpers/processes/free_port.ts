import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** Ports that no system gives to outgoing connections by itself: those begin at 32768. */
const lowest = 12_000;
const count = 20_000;

/**
 * A port for a server that starts later, or starts again. A port that the system chose would
 * not do: once it is free, any connection of another test may get it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * count);
    const server = createServer();
    try {
      await once(server.listen(port, "127.0.0.1"), "listening");
    } catch {
      await delay(1);
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
