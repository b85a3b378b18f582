import { z } from "zod";
import { createDocument } from "zod-openapi";
import type {
  oas31,
  ZodOpenApiOperationObject,
  ZodOpenApiOverrideContext,
  ZodOpenApiResponseObject,
} from "zod-openapi";
import { outcomeUnknown, plainProblem, rejection, rejections } from "../http/problems.ts";
import type { Problem } from "../http/problems.ts";
import { version } from "../version.ts";
import { errorSchema, uuidSchema } from "./common.ts";
import {
  isCommand,
  isForOwnPages,
  keyScopeOf,
  occasionalHeaders,
  responseHeaders,
  tags,
} from "./route.ts";
import type { ResponseDescription, Route } from "./route.ts";

const description =
  `A prediction-market exchange. Money is in whole EUR-cents, prices are whole cents
from 1 to 99 a share, times are ISO 8601 in UTC, ids are UUIDs. Unknown fields of a body are
ignored; unknown values are rejected.`.replaceAll("\n", " ");

/** Headers of the answers to trading requests by API keys. */
const rateHeaders = {
  "X-RateLimit-Limit": "sustained requests a minute",
  "X-RateLimit-Burst": "requests that may come back to back",
  "X-RateLimit-Remaining": "how many of these are left now",
};

/** Headers of the answers to requests that count in windows. */
const windowHeaders = {
  "RateLimit-Policy": "the windows in which the request counted: quota and seconds",
  RateLimit: "what is left of each; after a 429, in how many seconds there is more",
};

/** Of an answer that is not a success. */
const errorHeader = {
  "X-Error-Code": "the code of the error, also where the body has none",
};

/** Headers that an answer may have, by their names. */
const optionalHeaders = {
  "Idempotency-Replayed": "`true`: the key was used before, and this is its answer",
  "Preference-Applied": "`handling=strict`, if the request has asked for it",
  "Content-Disposition": "of CSV: the name of the file",
  ...windowHeaders,
  ...occasionalHeaders,
};

const OPTIONAL = ".optional";

/** The component of a header that an answer may lack. Where it must have it, it is another one. */
const optional = (name: string): string => `${name}${OPTIONAL}`;

/** Headers that requests may have. POST /orders also takes the key in the body. */
const requestHeaders = z.object({
  "Idempotency-Key": uuidSchema.optional().meta({
    description:
      "the same request with the same key within 24 hours is carried out once, and gets the first " +
      "answer again",
  }),
  Prefer: z.string().optional().meta({
    description: "`handling=strict`: a field of the body that is not known is an error",
  }),
  "If-None-Match": z.string().optional().meta({
    description: "the `ETag` of an answer: while the body is that one, the answer is 304",
  }),
  "Last-Event-ID": z.string().optional().meta({
    description: "the `id` of the last frame: the stream goes on behind it",
  }),
});

/** Of every answer. */
const generalHeaders = {
  "X-Request-Id": "names the request in the server's log",
  "Cache-Control": "how long a shared cache may keep the answer; `no-store` if none may",
};

const cacheHeaders = {
  ETag: "names the body; with it as `If-None-Match` the answer is 304 while the body is the same",
};

/** How callers identify themselves: see `Callers` in access.ts. */
const securitySchemes: Record<string, oas31.SecuritySchemeObject> = {
  key: {
    type: "http",
    scheme: "bearer",
    description: "An API key: it begins with `jk_`. It has the scope `read` or `trade`, or both.",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "pgmarkets_session",
    description:
      "The session of a user who is signed in on the website. Under https the cookie is " +
      "`__Host-pgmarkets_session`.",
  },
  token: {
    type: "http",
    scheme: "bearer",
    description:
      "A session's token of `GET /api/auth/token`: it begins with `jt_`. A public read that " +
      "has one counts for its user.",
  },
  staff: {
    type: "apiKey",
    in: "cookie",
    name: "pgmarkets_operator",
    description:
      "The session of a member of staff. Under https the cookie is " +
      "`__Host-pgmarkets_operator`.",
  },
};

/** The OpenAPI document of these routes. */
export function makeDocument(routes: Route[]): ReturnType<typeof createDocument> {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method]: operationOf(route) };
  }
  const document = createDocument(
    {
      openapi: "3.1.1",
      info: {
        title: "pgmarkets",
        version,
        description,
        license: { name: "MIT", identifier: "MIT" },
      },
      servers: [{ url: "/" }],
      tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
      paths,
      components: {
        headers: {
          "Retry-After": {
            description: "seconds to wait before trying again",
            schema: { type: "integer" },
          },
          ...Object.fromEntries(
            Object.entries(windowHeaders).map(([name, text]) => [
              name,
              { description: text, schema: { type: "string" } },
            ]),
          ),
          ...Object.fromEntries(
            Object.entries(optionalHeaders).map(([name, text]) => [
              optional(name),
              { description: text, schema: { type: "string" } },
            ]),
          ),
          ...Object.fromEntries(
            Object.entries(errorHeader).map(([name, text]) => [
              name,
              { description: text, schema: { $ref: "#/components/schemas/ErrorCode" } },
            ]),
          ),
          ...Object.fromEntries(
            Object.entries(rateHeaders).map(([name, text]) => [
              name,
              { description: `${text}; not for pages of the website`, schema: { type: "integer" } },
            ]),
          ),
          ...Object.fromEntries(
            Object.entries({ ...generalHeaders, ...cacheHeaders, ...responseHeaders }).map(
              ([name, text]) => [
                name,
                { description: text, required: true, schema: { type: "string" } },
              ],
            ),
          ),
        },
        securitySchemes,
      },
    },
    { override: leaveOutTheObvious },
  );
  return openObjects(document);
}

function operationOf(route: Route): ZodOpenApiOperationObject {
  const { params, query } = route.request;
  const body = bodyOf(route);
  const headers =
    route.rateLimit === "trading"
      ? // Of pages of the website, and of keys without the scope, it counts in windows.
        [...Object.keys(rateHeaders), ...Object.keys(windowHeaders).map(optional)]
      : Object.keys(isCounted(route) ? windowHeaders : {});
  const header = requestHeadersOf(route);
  const replay = isCommand(route) ? [optional("Idempotency-Replayed")] : [];
  const preference = body === undefined ? [] : [optional("Preference-Applied")];
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    security: securityOf(route),
    ...((params ?? query ?? header) && {
      requestParams: {
        ...(params && { path: params.schema }),
        ...(query && { query }),
        ...(header && { header }),
      },
    }),
    ...(body && {
      requestBody: { required: true, content: { "application/json": { schema: body } } },
    }),
    responses: {
      ...problemResponses(route, [...headers, ...preference]),
      ...Object.fromEntries(
        Object.entries(route.responses).map(([status, response]) => [
          status,
          responseOf(response, [...headers, ...replay, ...preference]),
        ]),
      ),
      ...unchangedOf(route.responses[200], headers),
    },
  };
}

/** The headers that a request of the route may have. */
function requestHeadersOf(route: Route): z.ZodObject | undefined {
  const takes: Record<keyof typeof requestHeaders.shape, boolean> = {
    "Idempotency-Key": isCommand(route),
    Prefer: route.request.body !== undefined,
    "If-None-Match": route.responses[200]?.caching !== undefined,
    "Last-Event-ID": route.goesOn === true,
  };
  const taken = Object.entries(requestHeaders.shape).filter(
    ([name]) => takes[name as keyof typeof takes],
  );
  return taken.length === 0 ? undefined : z.object(Object.fromEntries(taken));
}

/** How callers may identify themselves; an empty way is for those who do not. */
function securityOf(route: Route): Record<string, string[]>[] {
  if (route.auth === "none") return [];
  return route.auth === "public" ? [{}, { token: [] }] : [{ [route.auth]: scopesOf(route) }];
}

/** The scopes that a key needs for a route. */
function scopesOf(route: Route): string[] {
  const scope = keyScopeOf(route);
  return scope === undefined ? [] : [scope];
}

/** Whether requests of a route count in windows. */
function isCounted({ rateLimit }: Route): boolean {
  return rateLimit !== "none" && rateLimit !== "trading";
}

/** The documented body of a route. */
function bodyOf({ request }: Route): Route["request"]["body"] {
  return request.documentedBody ?? request.body;
}

/** All problems that a route may answer with. */
function problemsOf({ auth, rateLimit, request, ...route }: Route): Problem[] {
  const takesInput =
    request.query !== undefined || request.body !== undefined || isCommand({ rateLimit });
  return [
    ...(takesInput ? rejections("INVALID_REQUEST") : []),
    ...(auth === "none" || auth === "public" ? [] : rejections("UNAUTHORIZED")),
    ...(auth === "key" ? rejections("KEY_SCOPE") : []),
    ...(isForOwnPages({ rateLimit }) ? rejections("WRONG_ORIGIN") : []),
    ...(rateLimit === "none" ? [] : rejections("TOO_MANY_REQUESTS")),
    ...(request.params === undefined ? [] : [request.params.otherwise]),
    ...(isCommand({ rateLimit }) ? rejections("IDEMPOTENCY_KEY_REUSED") : []),
    ...(route.problems ?? []),
    ...(request.body === undefined ? [] : rejections("BODY_TOO_LARGE")),
    plainProblem(431, "Request Header Fields Too Large"),
    rejection("INTERNAL_ERROR"),
    ...(route.whenOutcomeUnknown === undefined
      ? []
      : [...rejections("CONFLICT_RETRY"), outcomeUnknown(route.whenOutcomeUnknown)]),
    ...(rateLimit === "read" || rateLimit === "stream" ? rejections("SERVICE_UNAVAILABLE") : []),
  ];
}

function responseOf(response: ResponseDescription, more: string[]): ZodOpenApiResponseObject {
  const { contentType = "application/json", schema = { type: "string" as const } } = response;
  const [mediaType = contentType] = contentType.split(";");
  return {
    description: response.description,
    headers: headerReferences([
      ...Object.keys(generalHeaders),
      ...more,
      ...(response.caching ? Object.keys(cacheHeaders) : []),
      ...(response.headers ?? []),
      ...(response.mayHave ?? []).map(optional),
      ...(response.orCsv === true ? [optional("Content-Disposition")] : []),
    ]),
    content: {
      [mediaType]: { schema },
      ...(response.orCsv === true && { "text/csv": { schema: { type: "string" as const } } }),
    },
  };
}

/** The answer to a client that has the body already, if the body may be cached. */
function unchangedOf(
  response: ResponseDescription | undefined,
  more: string[],
): Record<string, ZodOpenApiResponseObject> {
  if (response?.caching === undefined) return {};
  const { headers = [] } = response;
  return {
    304: {
      description: "The body is the one that `If-None-Match` names.",
      headers: headerReferences([
        ...Object.keys(generalHeaders),
        ...more,
        ...Object.keys(cacheHeaders),
        ...headers,
      ]),
    },
  };
}

/** The headers of answers of this status that are no success, beside those of all errors. */
function problemHeadersOf(route: Route, status: string, more: string[]): string[] {
  const hasVersion = route.responses[200]?.headers?.includes("X-Market-Version") === true;
  // Only a secret that is well-formed and unknown is counted.
  if (status === "401") return Object.keys(windowHeaders).map(optional);
  return [
    ...more,
    ...(hasVersion && isCommand(route) ? [optional("X-Market-Version")] : []),
    ...(status === "429" || status === "503" ? ["Retry-After"] : []),
  ];
}

/** One response for each status, with an example of every problem that it may be. */
function problemResponses(route: Route, more: string[]): Record<string, ZodOpenApiResponseObject> {
  const byStatus = Object.groupBy(problemsOf(route), ({ status }) => status);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, those = []]) => {
      const response: ZodOpenApiResponseObject = {
        description: those.map(({ body }) => body.error).join("; "),
        headers: headerReferences([
          ...Object.keys(generalHeaders),
          ...Object.keys(errorHeader),
          ...problemHeadersOf(route, status, more),
        ]),
        content: {
          "application/json": {
            schema: errorSchema,
            examples: Object.fromEntries(
              those.map(({ body }) => [exampleName(body), { value: body }]),
            ),
          },
        },
      };
      return [status, response];
    }),
  );
}

function exampleName({ code, error }: Problem["body"]): string {
  return code ?? error.toLowerCase().replaceAll(/[^a-z]+/g, "-");
}

function headerReferences(names: string[]): Record<string, oas31.ReferenceObject> {
  return Object.fromEntries(
    names.map((name) => [name.replace(OPTIONAL, ""), { $ref: `#/components/headers/${name}` }]),
  );
}

/** Patterns that repeat the format, and the bounds of JavaScript's numbers. */
function leaveOutTheObvious({ jsonSchema }: ZodOpenApiOverrideContext): void {
  if (jsonSchema.format === "uuid" || jsonSchema.format === "date-time") delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/**
 * Leaves out that objects have no other fields: a later version may answer with more, so a client must
 * not reject those that it does not know. Requests are open anyhow.
 */
function openObjects<Part>(part: Part): Part {
  if (typeof part !== "object" || part === null) return part;
  if ("additionalProperties" in part && part.additionalProperties === false) {
    delete part.additionalProperties;
  }
  for (const inner of Object.values(part)) openObjects(inner);
  return part;
}
