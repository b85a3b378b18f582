import type { Express, Request, Response } from "express";
import { plainProblem, ProblemError } from "../errors.ts";
import { knownCallerOf } from "../http/authentication.ts";
import { clientAddressOf } from "../http/client_address.ts";
import { uuidSchema } from "../schemas/common.ts";
import type { Services } from "../services.ts";

/** Server-Sent Events: the snapshots of a market, and what happens to the caller. */
export function installStreams(app: Express, { access, streams }: Services): void {
  const openMarket = async (request: Request, response: Response): Promise<void> => {
    const id = uuidSchema.safeParse(request.params.id);
    if (!id.success) throw new ProblemError(plainProblem(400, "INVALID_ID"));
    await streams.slots.take({ address: clientAddressOf(request) }, response);
    const isKnown = await streams.market.open(id.data, response);
    if (!isKnown) throw new ProblemError(plainProblem(404, "Market not found"));
  };
  const openUser = async (request: Request, response: Response): Promise<void> => {
    const caller = knownCallerOf(response);
    const address = clientAddressOf(request);
    await streams.slots.take({ address, userId: caller.userId }, response);
    streams.user.open(caller, response);
  };

  app.get("/api/v1/markets/:id/stream", access.marketStream, openMarket);
  app.get("/api/v1/user/stream", access.userStream, openUser);
  // For pages of the website: EventSource sends no headers but the cookies of its own site.
  app.get("/api/stream/market/:id", access.marketStream, openMarket);
  app.get("/api/stream/user", access.sessionUserStream, openUser);
}
