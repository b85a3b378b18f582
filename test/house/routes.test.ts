import test from "ava";
import { routes } from "../../src/api/routes.ts";

/** What the routes of src/api/ have in common. */

test("the names of operations are unique", (t) => {
  const names = routes.map(({ operationId }) => operationId);
  t.true(names.length > 15);
  t.is(new Set(names).size, names.length);
  t.deepEqual(
    names.filter((name) => !/^[a-z]+(?:[A-Z][a-z]+)*$/.test(name)),
    [],
  );
});

test("no two routes have the same method and path", (t) => {
  const paths = routes.map(({ method, path }) => `${method} ${path.replaceAll(/:\w+/g, ":")}`);
  t.is(new Set(paths).size, paths.length);
});

test("a route declares the parameters of its path, and no body of a GET", (t) => {
  for (const { path, method, request } of routes) {
    const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    t.deepEqual(Object.keys(request.params?.schema.shape ?? {}), inPath, path);
    if (method === "get") t.is(request.body, undefined, path);
  }
});

test("every route under /api/ and the document of them is limited, commands as trading or as those of accounts", (t) => {
  for (const { path, method, rateLimit, operationId, tag } of routes) {
    t.is(rateLimit === "none", !path.startsWith("/api/") && path !== "/openapi.json", path);
    const isCommand = method !== "get" && !operationId.startsWith("preview");
    const ofTrading = rateLimit === "trading" || rateLimit === "cancel-all";
    const ofPeople = tag === "Account" || tag === "Operator";
    t.is(ofTrading, isCommand && !ofPeople, path);
    t.is(rateLimit === "account", isCommand && ofPeople, path);
  }
});
