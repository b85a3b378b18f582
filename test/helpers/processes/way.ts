import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, NetConnectOpts, Server, Socket } from "node:net";

/** A network between two processes, which can be cut as by a broken switch. */
export interface Way {
  /** Where each of the targets is found, on this machine. */
  ports: number[];
  /** From now on nothing passes, and nothing says so: what is sent is never answered. */
  cut: () => void;
  /** What was sent meanwhile is lost. */
  mend: () => void;
  close: () => void;
}

/** Opens a way to each of these targets. */
export async function openWay(targets: NetConnectOpts[]): Promise<Way> {
  const sockets = new Set<Socket>();
  let isCut = false;

  const hold = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  };
  const join = (socket: Socket, target: NetConnectOpts): void => {
    hold(socket);
    if (isCut) return;
    const onward = connect(target);
    hold(onward);
    socket.pipe(onward).pipe(socket);
    socket.on("close", () => onward.destroy());
    onward.on("close", () => socket.destroy());
  };
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };

  const servers: Server[] = [];
  for (const target of targets) {
    const server = createServer((socket) => {
      join(socket, target);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    servers.push(server);
  }
  return {
    ports: servers.map((server) => (server.address() as AddressInfo).port),
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    mend: () => {
      isCut = false;
      breakAll();
    },
    close: () => {
      for (const server of servers) server.close();
      breakAll();
    },
  };
}
