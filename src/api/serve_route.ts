import type { Express, Request, Response } from "express";
import { setCaller, staffIdOf, userIdOf } from "../http/authentication.ts";
import { allowCaching, etagOf, isKnown } from "../http/caching.ts";
import { clientAddressOf } from "../client_address.ts";
import { isLost } from "../database/failures.ts";
import { noteRoute } from "../http/error_handler.ts";
import { readJson } from "../http/json_body.ts";
import { ProblemError } from "../http/problems.ts";
import { sendText } from "../http/respond.ts";
import { sendFile } from "../http/static_file.ts";
import { rejectUnknownFields, validate } from "../http/validate.ts";
import type { Context } from "./context.ts";
import { readIdempotency } from "./idempotency.ts";
import { isCommand, isForOwnPages, keyScopeOf } from "./route.ts";
import type { Answer, PathParams, RequestSchemas, Route } from "./route.ts";

/**
 * Installs a route. Each request passes, in this order: authentication, the scope of its API key, rate
 * limit, origin, the body as JSON, the schemas, the handler. Two kinds of routes count later, and
 * report their errors in this order all the same. If the body says how often the request counts, the
 * body is read first. If the handler takes the token, an error before it takes the token is reported
 * once the token is taken. What ends a request early is thrown, and answered by error_handler.ts.
 */
export function installRoute(app: Express, route: Route, context: Context): void {
  const { access, site } = context;
  const scope = keyScopeOf(route);

  app[route.method](route.path, async (request, response) => {
    noteRoute(response, route);
    const caller = await access.identify(route.auth, request, response);
    if (caller !== undefined) setCaller(response, caller);

    const address = clientAddressOf(request);
    if (scope !== undefined) await access.checkScope(scope, { caller, address }, response);
    const readBody = async (): Promise<Error | undefined> =>
      route.request.body && (await readJson(request, response));
    let fault = route.countOf && (await readBody());
    const requests = route.countOf?.(request.body, request.query) ?? 1;
    const client = { caller, address };
    const takesToken = route.takesToken === true;
    const token = takesToken ? access.tokenOf(route.rateLimit, client, response) : undefined;
    if (token === undefined) await access.count(route.rateLimit, client, response, requests);

    const handle = async (): Promise<void> => {
      if (isForOwnPages(route)) site.checkOrigin(request);
      if (route.countOf === undefined) fault = await readBody();
      if (fault !== undefined) throw fault;

      const input = readInput(route.request, request);
      if (isStrict(request)) rejectUnknown(route.request, request, response);
      const idempotency = isCommand(route) ? readIdempotency(route, request, input) : undefined;
      const who = { ...client, userId: userIdOf(caller) };
      const call = { ...input, ...who, idempotency, token, request, response };
      const answer = async (): Promise<Answer> => await route.handler(call, context);
      const turn = { client: userIdOf(caller) ?? staffIdOf(caller) ?? address, input };
      send(call, route, await inTurn(route, answer, turn, context));
    };
    await handle().catch(async (error: unknown) => {
      // What may have happened is not answered by a rejection for want of a token.
      if (!isLost(error)) await token?.take();
      throw error;
    });
  });
}

/**
 * Reads take turns by their clients: a user, or an address. Public reads that may be cached share an
 * answer for a second, but for those that show the version of a market: a client whose order made a
 * version does not get an older one.
 */
async function inTurn(
  route: Route,
  answer: () => Promise<Answer>,
  { client, input }: { client: string; input: object },
  { sharedAnswers, turns }: Context,
): Promise<Answer> {
  if (route.method !== "get" || route.rateLimit !== "read") return await answer();
  const { isLong = false } = route;
  const turn = turns.read(client, typeof isLong === "function" ? isLong(input) : isLong);
  const { caching, headers } = route.responses[200] ?? {};
  if (caching === undefined || headers !== undefined) return await turn(answer);
  return await sharedAnswers.ask(`${route.path} ${JSON.stringify(input)}`, answer, turn);
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

/** Whether the client wants unknown fields to be rejected (RFC 7240). */
function isStrict(request: Request): boolean {
  return /(?:^|[,;])\s*handling\s*=\s*"?strict"?\s*(?:$|[,;])/i.test(request.get("Prefer") ?? "");
}

function rejectUnknown(
  { body, documentedBody = body }: RequestSchemas,
  request: Request,
  response: Response,
): void {
  response.setHeader("Preference-Applied", "handling=strict");
  if (documentedBody !== undefined) rejectUnknownFields(documentedBody, request.body);
}

function validateParams({ schema, otherwise }: PathParams, request: Request): object {
  const result = schema.safeParse(request.params);
  if (!result.success) throw new ProblemError(otherwise);
  return result.data;
}

function send(exchange: Exchange, route: Route, answer: Answer): void {
  if (typeof answer === "string") {
    send(exchange, route, { status: 200, text: answer });
    return;
  }
  if ("isAnswered" in answer) return;
  const { request, response } = exchange;
  if ("file" in answer) {
    response.setHeaders(new Map(Object.entries(answer.headers)));
    sendFile(request, response, answer.file);
    return;
  }
  const { status, body, text = JSON.stringify(body), headers = {} } = answer;
  const { caching, contentType } = route.responses[status] ?? {};
  response.setHeaders(new Map(Object.entries(headers)));
  if (caching !== undefined) {
    const etag = etagOf(text);
    allowCaching(response, caching);
    response.setHeader("ETag", etag);
    if (isKnown(request, etag)) {
      response.status(304).end();
      return;
    }
  }
  sendText(response, status, text, contentType);
}

interface Exchange {
  request: Request;
  response: Response;
}
