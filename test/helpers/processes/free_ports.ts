import { once } from "node:events";
import { createServer } from "node:net";

/** Gives out ports that nobody listens on, below those that the system gives to connections. */
export async function freePorts(count: number): Promise<() => number> {
  const free: number[] = [];
  const from = 12_000 + (process.pid % 1000) * 20;
  for (let port = from; free.length < count; port++) if (await isFree(port)) free.push(port);
  return () => free.shift()!;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
