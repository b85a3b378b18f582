import type { Socket } from "node:net";
import { createTally } from "../tally.ts";
import { clientAddressOf } from "../client_address.ts";

/** Admits a connection while its address has fewer than so many. */
export function limitByAddress(most: number): (socket: Socket) => boolean {
  const open = createTally();
  return (socket) => {
    const address = clientAddressOf({ ip: socket.remoteAddress });
    if (open.of(address) >= most) return false;
    open.add(address, 1);
    socket.once("close", () => {
      open.add(address, -1);
    });
    return true;
  };
}
