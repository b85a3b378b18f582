import { requireSession, requireToken } from "./authentication.ts";
import type { Authenticator, Gate } from "./authentication.ts";

/** Who may come in, for each kind of route; the first handler of every route of the interface. */
export interface Access {
  /** Anybody reads. */
  publicRead: Gate;
  /** The caller reads what is theirs. */
  accountRead: Gate;
  /** The caller changes orders or positions. */
  command: Gate;
  /** A page of the website, known by the cookie of its session. */
  sessionRead: Gate;
  /** Anybody opens the stream of a market. */
  marketStream: Gate;
  /** The caller opens the stream of their account. */
  userStream: Gate;
  /** The same for a page of the website, since EventSource can't send a token. */
  sessionUserStream: Gate;
}

export function makeAccess(authenticator: Authenticator): Access {
  const anybody: Gate = (_request, _response, next) => {
    next();
  };
  const token = requireToken(authenticator);
  const session = requireSession(authenticator);
  return {
    publicRead: anybody,
    accountRead: token,
    command: token,
    sessionRead: session,
    marketStream: anybody,
    userStream: token,
    sessionUserStream: session,
  };
}
