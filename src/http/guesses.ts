import { sha256Of } from "../secrets.ts";
import { dropOldest } from "./authentication.ts";

/** Which clients have tried too many unknown secrets, and which secrets were valid at them. */
export interface Guesses {
  /**
   * After how many seconds a client may try this secret. Undefined if at once: the client does not
   * guess, or the secret was valid before, so others at its address cannot lock its holder out.
   */
  secondsToWait: (client: string, secret: string) => number | undefined;
  noteValid: (client: string, secret: string) => void;
  /** The client may try no unknown secret for so long. */
  noteTooMany: (client: string, seconds: number) => void;
}

/** Clients, and secrets, that are remembered at most. */
const CAP = 10_000;

export function createGuesses(): Guesses {
  const waitUntil = new Map<string, number>();
  const valid = new Set<string>();

  const nameOf = (client: string, secret: string): string =>
    sha256Of(secret).toString("latin1") + client;

  return {
    secondsToWait: (client, secret) => {
      const until = waitUntil.get(client);
      if (until === undefined) return undefined;
      const left = until - performance.now();
      if (left <= 0) waitUntil.delete(client);
      return left <= 0 || valid.has(nameOf(client, secret)) ? undefined : Math.ceil(left / 1000);
    },
    noteValid: (client, secret) => {
      const name = nameOf(client, secret);
      valid.delete(name);
      dropOldest(valid, CAP - 1);
      valid.add(name);
    },
    noteTooMany: (client, seconds) => {
      waitUntil.delete(client);
      dropOldest(waitUntil, CAP - 1);
      waitUntil.set(client, performance.now() + seconds * 1000);
    },
  };
}
