import type { Express, RequestHandler } from "express";
import type { ExecutionResult } from "postgraphile/graphql";
import { z } from "zod";
import type { GraphqlEndpoint } from "../graphql/endpoint.ts";
import { installGraphiql } from "../graphql/graphiql.ts";
import { jsonBody } from "../http/json_body.ts";
import { sendJson } from "../http/respond.ts";
import { staffOf } from "../http/staff.ts";
import { validate } from "../http/validate.ts";
import type { Services } from "../services.ts";

const bodySchema = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
});

/** GraphQL for analysts and for operators, each by keys of their own; neither is for traders. */
export function installGraphql(app: Express, services: Services): void {
  const { analysts, operators } = services.graphql;
  if (analysts !== undefined) installEndpoint(app, services, "/graphql", analysts);
  if (operators !== undefined) {
    installEndpoint(app, services, "/admin/graphql", operators);
    installGraphiql(app, { path: "/admin/graphiql", endpoint: "/admin/graphql" });
  }
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

function installEndpoint(
  app: Express,
  { access }: Services,
  path: string,
  endpoint: GraphqlEndpoint,
): void {
  const answer: RequestHandler = async (request, response) => {
    const { data, errors } = await endpoint.execute(
      staffOf(response).name,
      validate(bodySchema, request.body),
    );
    const status = isFaultOfRequest(data, errors) ? 400 : 200;
    sendJson(response, status, JSON.stringify({ data, errors }));
  };
  app.post(path, access.staff[endpoint.role], jsonBody, answer);
}
