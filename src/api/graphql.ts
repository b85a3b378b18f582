import type { Express, RequestHandler } from "express";
import type { ExecutionResult } from "postgraphile/graphql";
import { z } from "zod";
import { GraphqlUnavailable } from "../graphql/endpoint.ts";
import type { GraphqlEndpoint } from "../graphql/endpoint.ts";
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

/** GraphQL for analysts and for operators, by keys of their own. Traders' keys are rejected. */
export function installGraphql(app: Express, context: Context): void {
  const { analysts, operators } = context.graphql;
  if (analysts !== undefined) app.post("/graphql", executeOn(analysts, context));
  if (operators !== undefined) {
    app.post("/admin/graphql", executeOn(operators, context));
    installGraphiql(app, { path: "/admin/graphiql", endpoint: "/admin/graphql" });
  }
}

function executeOn({ role, execute }: GraphqlEndpoint, { access }: Context): RequestHandler {
  return async (request, response) => {
    const { keyHash } = await access.identifyStaff(role, request, response);
    const fault = await readJson(request, response);
    if (fault !== undefined) throw fault;
    const query = validate(bodySchema, request.body);
    const { data, errors } = await execute(keyHash, query).catch(throwProblem);
    const status = isFaultOfRequest(data, errors) ? 400 : 200;
    sendText(response, status, JSON.stringify({ data, errors }));
  };
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
