/** Takes a place of a client. Returns what gives it back; undefined if the client has all of its. */
export type TakePlace = (client: string) => (() => void) | undefined;

/** Gives each client so many places at once. */
export function createClientPlaces(most: number): TakePlace {
  const taken = new Map<string, number>();
  return (client) => {
    const before = taken.get(client) ?? 0;
    if (before >= most) return undefined;
    taken.set(client, before + 1);
    return () => {
      const left = (taken.get(client) ?? 0) - 1;
      if (left > 0) taken.set(client, left);
      else taken.delete(client);
    };
  };
}
