import type { Request, Response } from "express";
import type { z } from "zod";
import type { KeyScope } from "../database/calls.ts";
import type { Token } from "../engine/lane.ts";
import type { Auth, Callers, RateLimit } from "../http/access.ts";
import type { Caching } from "../http/caching.ts";
import type { Problem } from "../http/problems.ts";
import type { StaticFile } from "../http/static_file.ts";
import type { Context } from "./context.ts";
import type { Idempotency } from "./idempotency.ts";

/**
 * Declares a route: its contract, of which Express and the OpenAPI document are made, and its handler.
 * The compiler checks that the handler accepts what the schemas return, and returns one of the
 * declared responses. What every request passes before and after its handler is in serve_route.ts.
 *
 *     route({
 *       method: "get",
 *       path: "/api/v1/orders/:id",
 *       operationId: "getOrder",
 *       tag: "Orders",
 *       summary: "One of the caller's orders",
 *       auth: "key",
 *       rateLimit: "read",
 *       request: { params: idParams },
 *       responses: { 200: { description: "The order.", schema: orderSchema } },
 *       problems: rejections("ORDER_NOT_FOUND"),
 *       handler: async ({ params, userId }, context) => ...
 *     })
 */
export function route<
  const Authentication extends Auth,
  const Responses extends ResponseDescriptions,
  const Schemas extends RequestSchemas = object,
>(declared: Declaration<Authentication, Responses, Schemas>): Route {
  return { request: {}, ...declared } as unknown as Route;
}

type Declaration<
  Authentication extends Auth,
  Responses extends ResponseDescriptions,
  Schemas extends RequestSchemas,
> = Description &
  Limits & {
    auth: Authentication;
    request?: Schemas;
    responses: Responses;
    /**
     * Whether a read may be of thousands of a user's trades or orders, by what is asked if that
     * decides it: one at a time for each user.
     */
    isLong?: boolean | ((asked: Asked<Schemas>) => boolean);
    handler: (
      call: Call<Authentication, Schemas>,
      context: Context,
    ) => HandlerResult<Responses> | Promise<HandlerResult<Responses>>;
  };

interface Description {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** As Express has it: `/api/v1/orders/:id`. */
  path: string;
  operationId: string;
  tag: keyof typeof tags;
  summary: string;
  description?: string;
  /** Whether a stream goes on behind the event that `Last-Event-ID` names. */
  goesOn?: boolean;
  /** The problems of this route, besides those of every route of its kind: see openapi.ts. */
  problems?: Problem[];
}

/** How the requests of commands of trading are counted. These commands take an idempotency key. */
const commandLimits: readonly RateLimit[] = ["trading", "cancel-all"];

/** Whether a route is a command of trading. */
export function isCommand({ rateLimit }: { rateLimit: RateLimit }): boolean {
  return commandLimits.includes(rateLimit);
}

/** Whether only the website's own pages may call a route. Then its `Origin` is checked. */
export function isForOwnPages({ rateLimit }: { rateLimit: RateLimit }): boolean {
  return rateLimit === "account";
}

/**
 * The scope that an API key needs for a route: `trade`, unless the route only reads. A preview and the
 * state of the dead man's switch are reads. Undefined for a route that takes no API keys.
 */
export function keyScopeOf({
  auth,
  rateLimit,
}: Pick<Route, "auth" | "rateLimit">): KeyScope | undefined {
  if (auth !== "key") return undefined;
  return rateLimit === "read" || rateLimit === "stream" ? "read" : "trade";
}

/** What a request is counted as. Commands of trading count as that or have a limit of their own. */
type Limits =
  | { rateLimit: Exclude<RateLimit, "trading" | "cancel-all" | "account" | "stream"> }
  | { rateLimit: "cancel-all"; whenOutcomeUnknown: string }
  | {
      rateLimit: "stream";
      /** How many openings it counts as, by its query, which is not checked yet. One unless given. */
      countOf?: (body: unknown, query: Readonly<Record<string, unknown>>) => number;
    }
  | { rateLimit: "account"; whenOutcomeUnknown?: string }
  | {
      rateLimit: "trading";
      /** What the client should do if it is not known whether the command was carried out. */
      whenOutcomeUnknown: string;
      /** How many requests it counts as, by its body. One unless given. */
      countOf?: (body: unknown) => number;
      /** Its handler may take its token in the call that it makes; otherwise it is taken afterwards. */
      takesToken?: boolean;
    };

/** The parts of a request. They are checked in the order in which they are written. */
export interface RequestSchemas {
  params?: PathParams;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** What the OpenAPI document shows instead of `body`, if `body` accepts more. */
  documentedBody?: z.ZodType;
}

/** The parameters of a path, and the answer if they are invalid. */
export interface PathParams<Schema extends z.ZodObject = z.ZodObject> {
  schema: Schema;
  otherwise: Problem;
}

/** What a handler is called with: the checked parts of the request, and who sent it. */
type Call<Authentication extends Auth, Schemas extends RequestSchemas> = Asked<Schemas> &
  KnownCaller<Authentication> & {
    /** What the client is counted by: see client_address.ts. */
    address: string;
    /** Of a command of trading. Undefined if it came without a key. */
    idempotency: Idempotency | undefined;
    /** Of a route that takes it: the token of a request that is not counted yet. */
    token: Token | undefined;
    /** For a handler that answers by itself. */
    request: Request;
    response: Response;
  };

/** The checked parts of a request. */
type Asked<Schemas extends RequestSchemas> = { [Part in keyof Schemas]: Input<Schemas[Part]> };

type Input<Schema> =
  Schema extends PathParams<infer Params>
    ? z.output<Params>
    : Schema extends z.ZodType
      ? z.output<Schema>
      : never;

type KnownCaller<Authentication extends Auth> = Authentication extends "none" | "public"
  ? unknown
  : Authentication extends "staff"
    ? { caller: Callers["staff"] }
    : { caller: Callers[Authentication]; userId: string };

/** By status. */
export type ResponseDescriptions = Record<number, ResponseDescription>;

/** A successful response. Any other answer is a problem that is thrown. */
export interface ResponseDescription {
  description: string;
  /** Of the JSON body, or of the data of each frame of a stream. Without it the body is text. */
  schema?: z.ZodType;
  /** JSON unless given. */
  contentType?: string;
  /** How long shared caches may keep the answer. Unless given, they keep nothing. */
  caching?: Caching;
  headers?: readonly (keyof typeof responseHeaders)[];
  /** Headers that it has only sometimes. */
  mayHave?: readonly (keyof typeof occasionalHeaders)[];
  /** Whether the same is to be had as CSV, by `Accept: text/csv`. */
  orCsv?: boolean;
}

type HandlerResult<Responses extends ResponseDescriptions> =
  DeclaredAnswer<Responses> | TextAlone<Responses> | FileAnswer | typeof answered;

/**
 * An answer in one of the declared ways. `text` is sent as it is, such as JSON that the database
 * made; `body` is a value that becomes JSON.
 */
type DeclaredAnswer<Responses extends ResponseDescriptions> = {
  [Status in keyof Responses]: { status: Status } & Body<Responses[Status]> &
    Headers<Responses[Status]>;
}[keyof Responses];

type Body<Described> = Described extends { schema: infer Schema extends z.ZodType }
  ? { text: string } | { body: z.output<Schema> }
  : { text: string };

type Headers<Described> = Described extends { headers: readonly (infer Name extends string)[] }
  ? { headers: Record<Name, string | string[]> }
  : { headers?: never };

/** A 200 whose body is a file in memory. */
interface FileAnswer {
  file: StaticFile;
  headers: Record<string, string>;
}

/** Text alone is the body of a 200 that has no headers of its own. */
type TextAlone<Responses> = Responses extends { 200: { headers: readonly string[] } }
  ? never
  : Responses extends { 200: unknown }
    ? string
    : never;

/** Returned by a handler that has answered by itself, as those of streams do. */
export const answered = { isAnswered: true } as const;

/** What a handler returned, whatever its route. */
export type Answer =
  | string
  | { status: number; text?: string; body?: unknown; headers?: Record<string, string | string[]> }
  | FileAnswer
  | typeof answered;

/** A route without its own types. `route` has checked them. */
export type Route = Description & {
  auth: Auth;
  rateLimit: RateLimit;
  whenOutcomeUnknown?: string;
  countOf?: (body: unknown, query: Readonly<Record<string, unknown>>) => number;
  takesToken?: boolean;
  isLong?: boolean | ((asked: object) => boolean);
  request: RequestSchemas;
  responses: ResponseDescriptions;
  handler: (call: object, context: Context) => Answer | Promise<Answer>;
};

/** The headings under which the OpenAPI document lists routes. */
export const tags = {
  Catalogue: "What can be traded. Public.",
  Markets: "One market: its prices, its book, its trades. Public.",
  Orders: "Placing, cancelling and reading the caller's orders.",
  Portfolio: "What the caller has.",
  Leaderboard: "Who realised what. Refreshed every minute.",
  Proofs: "What shows later that history is as it was. Public.",
  Streams: "Server-Sent Events.",
  Account: "What users do with their accounts on the website. Not for API keys.",
  Operator: "How members of staff sign in on the website. What they do there is GraphQL.",
  Website: "For the pages of the website.",
  Service: "The service itself.",
} as const;

/** Headers that a handler may set. */
export const responseHeaders = {
  "X-Market-Version": "rises with each change of the market's book and trades",
  "Set-Cookie": "the session, or its end",
} as const;

/** Headers that a handler sets in some of its answers. */
export const occasionalHeaders = {
  "X-Market-Version": "the version of the market that the command saw",
  "Dead-Man-Fired": "the time of the expiry at which the switch fired last, for 24 hours",
  Link: "of CSV: the address of the next page",
} as const;
