import { connect } from "node:net";
import type { Socket } from "node:net";

/**
 * The clients of a fan-out: many streams and as many bare sockets. Started by fork, told what to
 * watch; says so once all are there, and from then on, whenever all of one kind have got a frame,
 * when the last of them had it, on the clock that processes share.
 */

export interface Watching {
  streamUrl: string;
  barePort: number;
  /** Of either kind. */
  clients: number;
}

/** Connections that are made at the same time. */
const AT_ONCE = 100;

/** Of a frame with JSON; pings end otherwise. */
const END_OF_FRAME = "}\n\n";

process.on("message", (watching: Watching) => {
  void watch(watching);
});
process.on("disconnect", () => process.exit());

async function watch({ streamUrl, barePort, clients }: Watching): Promise<void> {
  const { host, hostname, pathname, port } = new URL(streamUrl);
  const head = `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const streams = makeGroup(clients);
  const bare = makeGroup(clients);
  for (let opened = 0; opened < clients; opened += AT_ONCE) {
    const count = Math.min(AT_ONCE, clients - opened);
    await Promise.all(
      Array.from({ length: count }, async () => {
        const stream = await open(hostname, Number(port));
        const isFirst = streams.join(stream);
        stream.write(head);
        await isFirst;
        await bare.join(await open(hostname, barePort));
      }),
    );
  }
  streams.begin();
  bare.begin();
  process.send?.("watching");
}

/** Counts the frames of many sockets, and tells when the last of them has got one. */
function makeGroup(clients: number) {
  let missing = clients;
  let hasBegun = false;

  /** Settles with the first frame. */
  function join(socket: Socket): Promise<void> {
    return new Promise((resolve) => {
      let last = "";
      socket.on("data", (chunk) => {
        const seam = last + chunk.toString("latin1", 0, 2);
        const isWhole = chunk.includes(END_OF_FRAME) || seam.includes(END_OF_FRAME);
        last = (last + chunk.subarray(-2).toString("latin1")).slice(-2);
        if (!isWhole) return;
        resolve();
        if (hasBegun && --missing === 0) {
          missing = clients;
          process.send?.(Number(process.hrtime.bigint()) / 1e6);
        }
      });
    });
  }
  return { join, begin: () => (hasBegun = true) };
}

async function open(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true });
  socket.on("close", () => {
    throw new Error("A client was dropped");
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  return socket;
}
