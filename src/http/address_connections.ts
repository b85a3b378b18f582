import type { Socket } from "node:net";
import { clientAddressOf } from "./client_address.ts";

/** Admits a connection while its address has fewer than so many. */
export function limitByAddress(most: number): (socket: Socket) => boolean {
  const open = new Map<string, number>();
  return (socket) => {
    const address = clientAddressOf({ ip: socket.remoteAddress });
    const before = open.get(address) ?? 0;
    if (before >= most) return false;
    open.set(address, before + 1);
    socket.once("close", () => {
      const left = (open.get(address) ?? 0) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
    return true;
  };
}
