import { connect } from "node:net";

/**
 * Clients of streams. Started by fork, told what to open; says so once all have had a frame for each
 * market, and then tells how many bytes they have got whenever it is asked.
 */

export interface Opening {
  url: string;
  path: string;
  clients: number;
  /** Whether they accept gzip. */
  gzip: boolean;
}

/** Connections that are made at the same time. */
const AT_ONCE = 50;
/** Nothing comes for so long: the first frames have all come. */
const QUIET_MS = 1500;

let bytes = 0;
let lastAt = performance.now();

process.on("message", (message: Opening | "bytes") => {
  if (message === "bytes") process.send?.(bytes);
  else void openAll(message);
});
process.on("disconnect", () => process.exit());

async function openAll({ url, path, clients, gzip }: Opening): Promise<void> {
  for (let opened = 0; opened < clients; opened += AT_ONCE) {
    const count = Math.min(AT_ONCE, clients - opened);
    await Promise.all(Array.from({ length: count }, () => open(url, path, gzip)));
  }
  while (performance.now() - lastAt < QUIET_MS) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  process.send?.("open");
}

async function open(url: string, path: string, gzip: boolean): Promise<void> {
  const { host, hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  socket.on("close", () => {
    throw new Error("A client was dropped");
  });
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      bytes += chunk.length;
      lastAt = performance.now();
      resolve();
    });
    const accepted = gzip ? "Accept-Encoding: gzip\r\n" : "";
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${accepted}\r\n`);
  });
}
