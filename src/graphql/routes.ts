import type { Express, RequestHandler } from "express";
import type { ExecutionResult } from "postgraphile/graphql";
import { z } from "zod";
import { readJson } from "../http/json_body.ts";
import { sendText } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import type { Services } from "../services.ts";
import type { GraphqlEndpoint } from "./endpoint.ts";
import { installGraphiql } from "./graphiql.ts";

const bodySchema = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
});

/** GraphQL for analysts and for operators, each by keys of their own; neither is for traders. */
export function installGraphql(app: Express, services: Services): void {
  const { analysts, operators } = services.graphql;
  if (analysts !== undefined) app.post("/graphql", answerWith(analysts, services));
  if (operators !== undefined) {
    app.post("/admin/graphql", answerWith(operators, services));
    installGraphiql(app, { path: "/admin/graphiql", endpoint: "/admin/graphql" });
  }
}

function answerWith({ role, execute }: GraphqlEndpoint, { access }: Services): RequestHandler {
  return async (request, response) => {
    const { name } = await access.identifyStaff(role, request, response);
    const fault = await readJson(request, response);
    if (fault !== undefined) throw fault;
    const { data, errors } = await execute(name, validate(bodySchema, request.body));
    const status = isFaultOfRequest(data, errors) ? 400 : 200;
    sendText(response, status, JSON.stringify({ data, errors }));
  };
}

/**
 * Whether there is nothing to answer but what is wrong with the request: it was refused before
 * anything was run, or all that was run found its arguments invalid.
 */
function isFaultOfRequest(data: ExecutionResult["data"], errors: ExecutionResult["errors"]) {
  if (data === undefined) return true;
  const isEmpty = data === null || Object.values(data).every((value) => value === null);
  return (
    isEmpty && errors?.every(({ extensions }) => extensions.code === "INVALID_REQUEST") === true
  );
}
