import type { Express, RequestHandler } from "express";
import { mergePosition, splitPosition } from "../database/api.ts";
import { withRetries } from "../database/failures.ts";
import { userIdOf } from "../http/authentication.ts";
import { jsonBody } from "../http/json_body.ts";
import { sendResult } from "../http/send_result.ts";
import { validate } from "../http/validate.ts";
import { convertSetsSchema } from "../schemas/positions.ts";
import type { Services } from "../services.ts";

/** Complete sets of YES and NO shares, out of cash and into it. */
export function installPositions(app: Express, { access, orders, turns }: Services): void {
  const converting =
    (convert: typeof splitPosition): RequestHandler =>
    async (request, response) => {
      const { marketId, quantity } = validate(convertSetsSchema, request.body);
      const userId = userIdOf(response);
      const outcome = await withRetries(
        orders,
        (client) => convert(client, userId, marketId, quantity),
        { turn: turns.command(userId, marketId) },
      );
      sendResult(response, 200, outcome);
    };

  app.post("/api/v1/positions/split", access.command, jsonBody, converting(splitPosition));
  app.post("/api/v1/positions/merge", access.command, jsonBody, converting(mergePosition));
}
