import { createTally } from "../tally.ts";

/** Takes a place of a client. Returns what gives it back; undefined if the client has all of its. */
export type TakePlace = (client: string) => (() => void) | undefined;

/** Gives each client so many places at once. */
export function createClientPlaces(most: number): TakePlace {
  const taken = createTally();
  return (client) => {
    if (taken.of(client) >= most) return undefined;
    taken.add(client, 1);
    return () => {
      taken.add(client, -1);
    };
  };
}
