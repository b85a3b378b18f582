import test from "ava";
import type { Express } from "express";
import { pino } from "pino";
import { makeApp } from "../../src/app.ts";
import { routes } from "../../src/openapi/routes.ts";
import { makeServices } from "../../src/services.ts";
import { fakePool } from "../http/fake_pool.ts";

/** What the interface has and what src/openapi/ says of it, and with it /openapi.json. */

function installedIn(app: Express): string[] {
  return app.router.stack.flatMap(({ route }) => {
    if (route === undefined) return [];
    const methods = route.stack.map(({ method }) => method.toUpperCase());
    return [...new Set(methods)].map((method) => `${method} ${route.path}`);
  });
}

const described = routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);

test("every route is described in src/openapi/, and every description has its route", (t) => {
  const { pool } = fakePool({ answer: () => [] });
  const app = makeApp({ services: makeServices(pool, pino({ level: "silent" })) });
  const installed = installedIn(app);
  t.true(installed.length > 15);
  t.deepEqual(described.sort(), installed.sort());
});

test("operations have names of their own", (t) => {
  const names = routes.map(({ operationId }) => operationId);
  t.is(new Set(names).size, names.length);
  t.deepEqual(
    names.filter((name) => !/^[a-z]+(?:[A-Z][a-z]+)*$/.test(name)),
    [],
  );
});

test("a route describes the parameters of its path, and no body of a GET", (t) => {
  for (const { path, params, method, body } of routes) {
    const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    t.deepEqual(Object.keys(params?.shape ?? {}), inPath, path);
    if (method === "get") t.is(body, undefined, path);
  }
});
