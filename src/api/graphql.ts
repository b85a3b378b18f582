import type { Express, Request, RequestHandler, Response } from "express";
import type { ExecutionResult } from "postgraphile/graphql";
import { z } from "zod";
import { createCallLimiter } from "../database/call_limiter.ts";
import { GraphqlUnavailable } from "../graphql/endpoint.ts";
import type { GraphqlEndpoint } from "../graphql/endpoint.ts";
import { setCaller } from "../http/authentication.ts";
import { readJson } from "../http/json_body.ts";
import { plainProblem, ProblemError, rejection } from "../http/problems.ts";
import { sendText } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import type { Context } from "./context.ts";
import { installGraphiql } from "./graphiql.ts";

const bodySchema = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
});

const tooLarge = new ProblemError(plainProblem(413, "The body is larger than 1 MiB"));
const isTooLarge = (fault: Error): boolean => "status" in fault && fault.status === 413;
const notJson = plainProblem(415, "The content type must be application/json");

/**
 * GraphQL for analysts and for operators, by keys of their own; for operators also by the session of a
 * member of staff, from the website's pages. Traders' keys and sessions are rejected.
 */
export function installGraphql(app: Express, context: Context): void {
  const { analysts, operators } = context.graphql;
  if (analysts !== undefined) app.post("/graphql", executeOn(analysts, context));
  if (operators !== undefined) {
    app.post("/admin/graphql", executeOn(operators, context));
    installGraphiql(app, { path: "/admin/graphiql", endpoint: "/admin/graphql" });
  }
}

/**
 * One query of a caller at a time, and two in all: while an answer is made, the process does nothing
 * else. A statement may take 25 s, so a query waits longer than that for its turn.
 */
const turns = { limits: { most: 2, each: { caller: 1 } }, patienceMs: 30_000 };

function executeOn({ role, execute }: GraphqlEndpoint, context: Context): RequestHandler {
  const queries = createCallLimiter(turns);
  return async (request, response) => {
    const bySession = role === "operator" && request.headers.authorization === undefined;
    const credential = bySession
      ? await cookieHashOf(request, response, context)
      : (await context.access.identifyStaff(role, request, response)).keyHash;
    // Commands of operators may have long lists. The caller is known by now.
    const fault = await readJson(request, response, { mayBeLong: role === "operator" });
    if (fault !== undefined) throw role === "operator" && isTooLarge(fault) ? tooLarge : fault;
    const query = validate(bodySchema, request.body);
    const caller = credential.toString("hex");
    const turn = queries.turn(caller, { caller });
    const { data, errors } = await turn(() => execute(credential, query)).catch(throwProblem);
    const status = isFaultOfRequest(data, errors) ? 400 : 200;
    sendText(response, status, JSON.stringify({ data, errors }));
  };
}

/**
 * The SHA-256 of the cookie of a session of staff. Browsers may send the cookie with requests that
 * other pages cause, so these are told apart by their origin and their content type.
 */
async function cookieHashOf(
  request: Request,
  response: Response,
  { access, site }: Context,
): Promise<Buffer> {
  const caller = await access.identify("staff", request, response);
  setCaller(response, caller);
  site.checkOrigin(request);
  if (typeof request.is("application/json") !== "string") throw new ProblemError(notJson);
  return caller.cookieHash;
}

function throwProblem(error: unknown): never {
  if (!(error instanceof GraphqlUnavailable)) throw error;
  throw new ProblemError(
    error.isTemporary
      ? rejection("CONFLICT_RETRY")
      : plainProblem(503, "GraphQL is not available: the log of the server says why"),
  );
}

/** Whether nothing was run, or everything that was run found its arguments invalid. */
function isFaultOfRequest(data: ExecutionResult["data"], errors: ExecutionResult["errors"]) {
  if (data === undefined) return true;
  const isEmpty = data === null || Object.values(data).every((value) => value === null);
  return (
    isEmpty && errors?.every(({ extensions }) => extensions.code === "INVALID_REQUEST") === true
  );
}
