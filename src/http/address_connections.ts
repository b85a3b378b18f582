import type { Socket } from "node:net";
import { clientAddressOf } from "./client_address.ts";
import { createClientPlaces } from "./client_places.ts";

/** Admits a connection while its address has fewer than so many. */
export function limitByAddress(most: number): (socket: Socket) => boolean {
  const takePlace = createClientPlaces(most);
  return (socket) => {
    const giveBack = takePlace(clientAddressOf({ ip: socket.remoteAddress }));
    if (giveBack !== undefined) socket.once("close", giveBack);
    return giveBack !== undefined;
  };
}
