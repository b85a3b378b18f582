import { marketSnapshotSchema, userEventSchema } from "../schemas/streams.ts";
import { idParams, invalidStreamId, marketNotFound } from "./route.ts";
import type { Route, RouteAnswer } from "./route.ts";

const contentType = "text/event-stream";

const snapshots: RouteAnswer = {
  status: 200,
  description:
    "Server-Sent Events. The `data` of each frame is a snapshot, its `id` the market's version. " +
    "One comes at once, and one after every change of the book or the trades.",
  contentType,
  schema: marketSnapshotSchema,
  headers: ["X-Market-Version"],
};

const events: RouteAnswer = {
  status: 200,
  description:
    "Server-Sent Events. The `data` of each frame is an event, the first one `connected`. What " +
    "happened while nobody listened is not told later.",
  contentType,
  schema: userEventSchema,
};

/** Server-Sent Events. */
export const streamRoutes: Route[] = [
  {
    method: "get",
    path: "/api/v1/markets/:id/stream",
    operationId: "streamMarket",
    tag: "Streams",
    summary: "The snapshots of a market",
    auth: "none",
    params: idParams,
    answers: [snapshots],
    problems: [invalidStreamId, marketNotFound],
  },
  {
    method: "get",
    path: "/api/v1/user/stream",
    operationId: "streamUser",
    tag: "Streams",
    summary: "What happens to the caller's orders",
    auth: "key",
    answers: [events],
  },
  {
    method: "get",
    path: "/api/stream/market/:id",
    operationId: "streamMarketForPages",
    tag: "Streams",
    summary: "The snapshots of a market, for pages of the website",
    auth: "none",
    params: idParams,
    answers: [snapshots],
    problems: [invalidStreamId, marketNotFound],
  },
  {
    method: "get",
    path: "/api/stream/user",
    operationId: "streamUserForPages",
    tag: "Streams",
    summary: "What happens to the orders of the session's user, for pages of the website",
    auth: "session",
    answers: [events],
  },
];
