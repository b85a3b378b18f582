import { z } from "zod";
import { outcomeUnknown, plainProblem, refusal } from "../errors.ts";
import type { ErrorCodeName, Problem } from "../errors.ts";
import { uuidSchema } from "../schemas/common.ts";

/** The headings under which the document lists operations. */
export const tags = {
  Catalogue: "What can be traded. Public.",
  Markets: "One market: its prices, its book, its trades. Public.",
  Orders: "Placing, cancelling and reading the caller's orders.",
  Portfolio: "What the caller has.",
  Leaderboard: "Who realised what. Refreshed every minute.",
  Streams: "Server-Sent Events.",
  Website: "For the pages of the website.",
  Service: "The service itself.",
} as const;

/** Headers of answers, beside those that every answer has. */
export const answerHeaders = {
  "Cache-Control": "how long a shared cache may keep the answer",
  "X-Market-Version": "rises with each change of the market's book and trades",
  "Idempotency-Replayed": "`true`: the key had been used, this is the order that it stands for",
} as const;

/** Headers of the answers to trading requests by API keys. */
export const rateHeaders = {
  "X-RateLimit-Limit": "sustained requests a minute",
  "X-RateLimit-Burst": "requests that may come back to back",
  "X-RateLimit-Remaining": "how many of these are left now",
} as const;

/** One way in which a route answers when all is well. */
export interface RouteAnswer {
  status: number;
  description: string;
  /** Of the body, or of the data of each frame of a stream; text without it. */
  schema?: z.ZodType;
  /** JSON unless told otherwise. */
  contentType?: string;
  headers?: (keyof typeof answerHeaders)[];
}

/**
 * What the interface says of one route. It carries nothing out: src/routes/ does, with the same
 * schemas, and a test holds the two lists together.
 */
export interface Route {
  method: "get" | "post" | "patch" | "delete";
  /** As Express has it: `/api/v1/orders/:id`. */
  path: string;
  operationId: string;
  tag: keyof typeof tags;
  summary: string;
  description?: string;
  /** It changes nothing and counts as a read, although it is no GET. */
  isRead?: boolean;
  /** `key`: an API key or a session's token; `session`: the cookie of a session. */
  auth: "none" | "key" | "session";
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  answers: RouteAnswer[];
  /** Beside those that {@link problemsOf} adds. */
  problems?: Problem[];
}

/** A path with the id of something. */
export const idParams = z.object({ id: uuidSchema });

/** The id in the path is no UUID. */
export const invalidId = plainProblem(400, "Invalid id");

/** The same on streams. */
export const invalidStreamId = plainProblem(400, "INVALID_ID");

/** Answers to reading what there is not. */
export const categoryNotFound = plainProblem(404, "Category not found");
export const eventNotFound = plainProblem(404, "Event not found");
export const marketNotFound = plainProblem(404, "Market not found");

/** The answers to these refusals. */
export function refusals(...names: ErrorCodeName[]): Problem[] {
  return names.map((name) => refusal(name));
}

/** All but the routes of the service itself. */
function isLimited({ path }: Route): boolean {
  return path.startsWith("/api/");
}

/** Whether keys have trading requests for it, of which every answer tells how many are left. */
export function isTradingRequest(route: Route): boolean {
  return route.auth === "key" && isCommand(route);
}

function isCommand({ method, isRead }: Route): boolean {
  return method !== "get" && isRead !== true;
}

/** Every answer of a route that isn't a success. */
export function problemsOf(route: Route): Problem[] {
  const takesInput = route.query !== undefined || route.body !== undefined;
  const problems = [
    ...(takesInput ? refusals("INVALID_REQUEST") : []),
    ...(route.auth === "none" ? [] : refusals("UNAUTHORIZED")),
    ...(isLimited(route) ? refusals("TOO_MANY_REQUESTS") : []),
    ...(route.problems ?? []),
    ...(route.body === undefined ? [] : [plainProblem(413, "The body is larger than 64 KiB")]),
    plainProblem(500, "Internal server error"),
  ];
  if (!isLimited(route)) return problems;
  const outages = isCommand(route)
    ? [...refusals("CONFLICT_RETRY"), outcomeUnknown(route.method, route.path)]
    : [plainProblem(503, "Service unavailable")];
  return [...problems, ...outages];
}
