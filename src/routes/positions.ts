import type { Express, RequestHandler } from "express";
import type { ApiCalls } from "../database/calls.ts";
import { userIdOf } from "../http/authentication.ts";
import { jsonBody } from "../http/json_body.ts";
import { sendResult } from "../http/send_result.ts";
import { validate } from "../http/validate.ts";
import { convertSetsSchema } from "../schemas/positions.ts";
import type { Services } from "../services.ts";

/** Complete sets of YES and NO shares, out of cash and into it. */
export function installPositions(app: Express, { access, commands }: Services): void {
  const converting =
    (convert: ApiCalls["splitPosition"]): RequestHandler =>
    async (request, response) => {
      const { marketId, quantity } = validate(convertSetsSchema, request.body);
      const userId = userIdOf(response);
      sendResult(response, 200, await convert({ userId, marketId, quantity }));
    };

  app.post("/api/v1/positions/split", access.command, jsonBody, converting(commands.splitPosition));
  app.post("/api/v1/positions/merge", access.command, jsonBody, converting(commands.mergePosition));
}
