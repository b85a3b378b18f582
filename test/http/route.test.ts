import test from "ava";
import { z } from "zod";
import { route } from "../../src/api/route.ts";

/** Handlers that do not fit their routes do not compile: `npm run types` expects these errors. */

const schema = z.strictObject({ status: z.literal("ok"), count: z.number() });

const get = {
  method: "get",
  path: "/test",
  operationId: "test",
  tag: "Service",
  summary: "For this test",
  auth: "key",
  rateLimit: "read",
} as const;
const plain = { ...get, responses: { 200: { description: "It is done.", schema } } };
const created = { ...get, responses: { 201: { description: "It is made.", schema } } };
const versioned = {
  ...get,
  responses: { 200: { description: "It is done.", schema, headers: ["X-Market-Version"] } },
} as const;
const named = { ...plain, request: { query: z.object({ name: z.string() }) } };

const text = "{}";
const headers = { "X-Market-Version": "1" };

test("a handler that fits its route compiles", (t) => {
  const fitting = [
    route({ ...plain, handler: () => text }),
    route({ ...plain, handler: ({ userId }) => Promise.resolve(userId) }),
    route({ ...plain, handler: () => ({ status: 200, body: { status: "ok", count: 1 } }) }),
    route({ ...named, handler: ({ query }) => query.name }),
    route({ ...created, handler: () => ({ status: 201, text }) }),
    route({ ...versioned, handler: () => ({ status: 200, text, headers }) }),
    route({ ...plain, rateLimit: "trading", whenOutcomeUnknown: "retry", handler: () => text }),
  ];
  t.is(fitting.length, 7);
});

test("a handler that does not fit its route does not compile", (t) => {
  const unfitting = [
    // @ts-expect-error 201 is not declared.
    route({ ...plain, handler: () => ({ status: 201, text }) }),
    // @ts-expect-error There is no 200, whose body text alone would be.
    route({ ...created, handler: () => text }),
    // @ts-expect-error The database may have returned nothing.
    route({ ...plain, handler: () => null as string | null }),
    // @ts-expect-error Nothing is answered.
    route({ ...plain, handler: () => undefined }),
    // @ts-expect-error The body has no count.
    route({ ...plain, handler: () => ({ status: 200, body: { status: "ok" } }) }),
    // @ts-expect-error The version is missing.
    route({ ...versioned, handler: () => ({ status: 200, text }) }),
    // @ts-expect-error The version is missing.
    route({ ...versioned, handler: () => text }),
    // @ts-expect-error The header is not declared.
    route({ ...plain, handler: () => ({ status: 200, text, headers }) }),
    // @ts-expect-error A route without authentication does not know the caller.
    route({ ...plain, auth: "none", handler: ({ userId }) => String(userId) }),
    // @ts-expect-error No body is declared.
    route({ ...named, handler: ({ body }) => String(body) }),
    // @ts-expect-error A command says what to do when its outcome is unknown.
    route({ ...plain, rateLimit: "trading", handler: () => text }),
  ];
  t.is(unfitting.length, 11);
});
