import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/** The network between one node and etcd, which can be cut as by a broken switch. */
export interface EtcdWay {
  /** Where the node finds the members of etcd. */
  ports: number[];
  /** From now on nothing passes, and nothing says so: what is sent is never answered. */
  cut: () => void;
  /** What was sent meanwhile is lost. */
  mend: () => void;
  close: () => void;
}

/** Opens a way to each of these ports of this machine. */
export async function openEtcdWay(targets: number[]): Promise<EtcdWay> {
  const sockets = new Set<Socket>();
  let isCut = false;

  const hold = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  };
  const join = (socket: Socket, target: number): void => {
    hold(socket);
    if (isCut) return;
    const onward = connect(target, "127.0.0.1");
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
