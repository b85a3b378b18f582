import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The way to a database, over a unix socket of its own, which can be shut. */
export interface DatabaseGate {
  connectionString: string;
  /** Lets connections through. */
  open: () => Promise<void>;
  /** Cuts the connections; new ones are refused. */
  shut: () => Promise<void>;
  /** Like a pulled cable: no data arrives any more, and no connection is closed. */
  goSilent: () => void;
  /** How many connections have come. */
  arrivals: () => number;
  /** Shuts it for good. */
  remove: () => Promise<void>;
}

const SOCKET = ".s.PGSQL.5432";

/** A gate, shut at first, before the database of a connection string over a unix socket. */
export async function makeGate(connectionString: string): Promise<DatabaseGate> {
  const url = new URL(connectionString.replace("@/", "@localhost/"));
  const socketPath = join(
    url.searchParams.get("host") ?? "",
    `.s.PGSQL.${url.searchParams.get("port") ?? "5432"}`,
  );
  const sockets = new Set<Socket>();
  let isSilent = false;
  let arrivals = 0;
  let server: Server | undefined;

  const directory = await mkdtemp(join(tmpdir(), `pgmarkets-gate-${process.pid}-`));

  async function open(): Promise<void> {
    isSilent = false;
    server = createServer((outside) => {
      arrivals += 1;
      const inside = connect(socketPath);
      for (const socket of [outside, inside]) {
        sockets.add(socket);
        socket.on("error", () => undefined);
        socket.once("close", () => sockets.delete(socket));
      }
      for (const [from, to] of [
        [outside, inside],
        [inside, outside],
      ] as const) {
        from.on("data", (chunk) => {
          if (!isSilent) to.write(chunk);
        });
        from.once("close", () => {
          if (!isSilent) to.destroy();
        });
      }
    });
    server.listen(join(directory, SOCKET));
    await once(server, "listening");
  }

  async function shut(): Promise<void> {
    const closing = server;
    server = undefined;
    for (const socket of sockets) socket.destroy();
    if (closing === undefined) return;
    closing.close();
    await once(closing, "close");
  }

  const login = `${url.username}${url.password && `:${url.password}`}`;
  return {
    connectionString: `postgresql://${login}@${url.pathname}?host=${encodeURIComponent(directory)}`,
    open,
    shut,
    goSilent: () => {
      isSilent = true;
    },
    arrivals: () => arrivals,
    remove: async () => {
      await shut();
      await rm(directory, { recursive: true });
    },
  };
}
