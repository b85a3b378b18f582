import type { Express, Request, Response } from "express";
import { setCaller } from "../http/authentication.ts";
import { allowCaching } from "../http/caching.ts";
import { clientAddressOf } from "../http/client_address.ts";
import { noteRoute } from "../http/error_handler.ts";
import { readJson } from "../http/json_body.ts";
import { ProblemError } from "../http/problems.ts";
import { sendText } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import type { Context } from "./context.ts";
import type { Answer, PathParams, RequestSchemas, Route } from "./route.ts";

/**
 * Installs a route. Each request passes, in this order: authentication, rate limit, origin, the body
 * as JSON, the schemas, the handler. What ends a request early is thrown, and answered by
 * error_handler.ts.
 */
export function installRoute(app: Express, route: Route, context: Context): void {
  const { access, site } = context;

  app[route.method](route.path, async (request, response) => {
    noteRoute(response, route);
    const caller = await access.identify(route.auth, request, response);
    if (caller !== undefined) setCaller(response, caller);

    const address = clientAddressOf(request);
    const count = (requests: number): Promise<void> =>
      access.count(route.rateLimit, { caller, address }, response, requests);
    const readBody = async (): Promise<Error | undefined> =>
      route.request.body && (await readJson(request, response));
    let fault: Error | undefined;
    if (route.countOf === undefined) {
      await count(1);
      fault = await readBody();
    } else {
      fault = await readBody();
      await count(route.countOf(request.body, request.query));
    }
    if (route.fromOwnPages === true) site.checkOrigin(request);
    if (fault !== undefined) throw fault;

    const input = readInput(route.request, request);
    const call = { ...input, caller, userId: caller?.userId, address, request, response };
    send(response, route, await route.handler(call, context));
  });
}

/** The parts of a request as its schemas give them, checked in the order of the schemas. */
function readInput(schemas: RequestSchemas, request: Request): object {
  const { params, query, body } = schemas;
  const readers = {
    params: () => params && validateParams(params, request),
    query: () => query && validate(query, request.query),
    body: () => body && validate(body, request.body),
    documentedBody: () => undefined,
  };
  const parts = Object.keys(schemas) as (keyof RequestSchemas)[];
  return Object.fromEntries(parts.map((part) => [part, readers[part]()]));
}

function validateParams({ schema, otherwise }: PathParams, request: Request): object {
  const result = schema.safeParse(request.params);
  if (!result.success) throw new ProblemError(otherwise);
  return result.data;
}

function send(response: Response, route: Route, answer: Answer): void {
  if (typeof answer === "string") {
    send(response, route, { status: 200, text: answer });
    return;
  }
  if ("isAnswered" in answer) return;
  const { status, text, body, headers = {} } = answer;
  const { caching, contentType } = route.responses[status] ?? {};
  response.setHeaders(new Map(Object.entries(headers)));
  if (caching !== undefined) allowCaching(response, caching);
  sendText(response, status, text ?? JSON.stringify(body), contentType);
}
