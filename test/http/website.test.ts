import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { request } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import test from "ava";
import { testService } from "../helpers/http/test_service.ts";

/** How the pages of the website are served: headers, caching, compression, unknown paths. */

const service = testService(test, { website: true });
const { call } = service;

const someId = "0193d0a0-0000-7000-8000-000000000000";
const html = "text/html; charset=utf-8";

interface Got {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Without the decoding that fetch does. */
async function get(path: string, headers: Record<string, string> = {}, method = "GET") {
  return await new Promise<Got>((done, fail) => {
    const sent = request(service.url + path, { headers, method }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => {
        done({
          status: response.statusCode,
          headers: response.headers,
          body: Buffer.concat(parts),
        });
      });
    });
    sent.on("error", fail);
    sent.end();
  });
}

/** The paths that the page names. */
async function assetPaths(): Promise<string[]> {
  const { body } = await get("/");
  return [...body.toString().matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(
    ([, path]) => path!,
  );
}

const pages = ["/", "/portfolio", "/leaderboard", "/account", "/sign-in", "/sign-up", "/confirm"];
for (const path of [...pages, "/reset", "/help", `/markets/${someId}`, `/events/${someId}`]) {
  test(`${path} is the page, and no cache keeps it`, async (t) => {
    const { status, headers, body } = await get(path);
    t.is(status, 200);
    t.is(headers["content-type"], html);
    t.is(headers["cache-control"], "no-store");
    t.true(body.toString().startsWith("<!doctype html>"));
  });
}

for (const path of ["/operator", "/operator/welcome", `/operator/markets/${someId}`]) {
  test(`${path} is the page of staff, which loads none of the traders' scripts`, async (t) => {
    const { status, headers, body } = await get(path);
    t.is(status, 200);
    t.is(headers["content-type"], html);
    t.is(headers["cache-control"], "no-store");
    const own = body.toString();
    t.regex(own, /\/assets\/operator-[\w-]{8}\.js/);
    t.notRegex(own, /\/assets\/index-/);
    t.notRegex((await get("/")).body.toString(), /operator/);
  });
}

test("404: a path below /operator that is no page of staff", async (t) => {
  const { status, body } = await get("/operator/nothing", { accept: "text/html" });
  t.is(status, 404);
  t.regex(body.toString(), /\/assets\/operator-/);
  t.is((await get("/operator/nothing", { accept: "application/json" })).status, 404);
});

test("the policy allows nothing inline and no other host", async (t) => {
  for (const path of ["/", "/operator", "/nowhere", ...(await assetPaths())]) {
    const policy = (await get(path, { accept: "text/html" })).headers["content-security-policy"];
    const directives = String(policy).split(";");
    t.true(directives.includes("default-src 'none'"), path);
    for (const directive of directives) t.regex(directive, /^[a-z-]+ '(?:self|none)'$/, path);
  }
  const { headers } = await get("/");
  t.is(headers["x-content-type-options"], "nosniff");
  t.is(headers["referrer-policy"], "no-referrer");
});

test("the page itself has no script or style in it", async (t) => {
  const text = (await get("/")).body.toString();
  t.notRegex(text, /<style|style=|\son[a-z]+=/);
  t.notRegex(text, /<script(?![^>]*\ssrc=)/);
});

test("assets are kept for good, since their names change with their content", async (t) => {
  const paths = await assetPaths();
  t.true(paths.some((path) => path.endsWith(".js")) && paths.some((path) => path.endsWith(".css")));
  for (const path of paths) {
    t.regex(path, /-[\w-]{8}\.(?:js|css|svg)$/);
    const { status, headers } = await get(path);
    t.is(status, 200);
    t.is(headers["cache-control"], "public, max-age=31536000, immutable");
  }
});

test("assets and the page come in brotli, gzip or as they are", async (t) => {
  for (const path of ["/", ...(await assetPaths()).filter((name) => !name.endsWith(".svg"))]) {
    const plain = await get(path);
    t.is(plain.headers["content-encoding"], undefined);
    t.is(plain.headers.vary, "Accept-Encoding");
    const brotli = await get(path, { "accept-encoding": "gzip, deflate, br" });
    t.is(brotli.headers["content-encoding"], "br");
    t.deepEqual(brotliDecompressSync(brotli.body), plain.body);
    const gzip = await get(path, { "accept-encoding": "gzip" });
    t.is(gzip.headers["content-encoding"], "gzip");
    t.deepEqual(gunzipSync(gzip.body), plain.body);
    t.is(Number(gzip.headers["content-length"]), gzip.body.length);
  }
});

test("HEAD has the headers of GET", async (t) => {
  const [head, full] = [await get("/", {}, "HEAD"), await get("/")];
  t.is(head.status, 200);
  t.is(head.body.length, 0);
  t.is(head.headers["content-length"], full.headers["content-length"]);
});

for (const path of ["/nowhere", "/markets", "/markets/1", "/portfolio/", "/assets/index.js"]) {
  test(`${path} is the website's own 404`, async (t) => {
    const { status, headers, body } = await get(path, { accept: "text/html,*/*;q=0.8" });
    t.is(status, 404);
    t.is(headers["content-type"], html);
    t.is(headers["cache-control"], "no-store");
    t.deepEqual(body, (await get("/")).body);
  });
}

test("unknown paths under /api are JSON, whatever is asked for", async (t) => {
  for (const path of ["/api", "/api/", "/api/nowhere", "/api/v1/nowhere", "/api/account/nowhere"]) {
    const { status, body } = await call("GET", path, { headers: { accept: "text/html" } });
    t.is(status, 404, path);
    t.deepEqual(body, { error: "Not found" }, path);
  }
});

test("a program that asks for JSON or anything, or sends something, gets JSON", async (t) => {
  const asked = await call("GET", "/nowhere", { headers: { accept: "application/json" } });
  t.deepEqual([asked.status, asked.body], [404, { error: "Not found" }]);
  const anything = await call("GET", "/nowhere", { headers: { accept: "*/*" } });
  t.deepEqual([anything.status, anything.body], [404, { error: "Not found" }]);
  t.is(anything.headers.get("x-error-code"), "NOT_FOUND");
  for (const path of ["/", "/nowhere"]) {
    const sent = await call("POST", path, { body: {} });
    t.deepEqual([sent.status, sent.body], [404, { error: "Not found" }]);
  }
});

test("the other addresses of the service stay what they were", async (t) => {
  t.is((await call("GET", "/openapi.json")).body.openapi, "3.1.1");
  t.is((await call("GET", "/healthz")).body.status, "ok");
  t.true((await call("GET", "/docs")).body.includes("swagger-ui"));
});
