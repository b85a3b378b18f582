import { createCallLimiter } from "../database/call_limiter.ts";
import { lookUpLimits } from "../database/call_limits.ts";
import type { Turn } from "../database/failures.ts";
import { clientAddressOf } from "./client_address.ts";
import { createClientPlaces } from "./client_places.ts";

/** Thrown for a look-up of an address for which too many are under way. It did not ask the database. */
export class TooManyLookUps extends Error {
  constructor() {
    super("Too many secrets of one address are looked up");
    this.name = "TooManyLookUps";
  }
}

/** Look-ups of one address that may be under way, waiting or not. They take milliseconds. */
const DEFAULT_ADDRESS_CAP = 100;

/**
 * Gives look-ups of secrets their turns, by the address of their client. Anybody can cause them, so
 * the addresses take turns, and all of them leave a connection to the counting of requests. Secrets
 * that were valid before do not wait behind the other ones of their address.
 */
export function createLookUps(
  connections: number,
  addressCap = DEFAULT_ADDRESS_CAP,
): (address: string | undefined, wasValid?: boolean) => Turn {
  const limiter = createCallLimiter({ limits: lookUpLimits(connections) });
  const takePlace = createClientPlaces(addressCap);
  return (address, wasValid = false) => {
    const client = `${clientAddressOf({ ip: address })}${wasValid ? " known" : ""}`;
    const turn = limiter.turn(client, {});
    return async (attempt) => {
      const giveBack = takePlace(client);
      if (giveBack === undefined) throw new TooManyLookUps();
      try {
        return await turn(attempt);
      } finally {
        giveBack();
      }
    };
  };
}
