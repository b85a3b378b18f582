import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Express, RequestHandler } from "express";
import helmet from "helmet";
import { allowCaching } from "../http/caching.ts";
import type { Caching } from "../http/caching.ts";
import { sendJson } from "../http/respond.ts";
import { makeDocument } from "../openapi/document.ts";
import { routes } from "../openapi/routes.ts";

/** It changes with the version that is served. */
const caching: Caching = { freshSeconds: 60, staleSeconds: 300 };

/** The interface described, for programs and for people. */
export function installDocumentation(app: Express): void {
  const document = JSON.stringify(makeDocument(routes));
  app.get("/openapi.json", (_request, response) => {
    allowCaching(response, caching);
    sendJson(response, 200, document);
  });

  app.get("/docs", secured, (request, response) => {
    // What the page names is beside it, so it has one address.
    if (request.path.endsWith("/")) {
      response.redirect(308, "../docs");
      return;
    }
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.setHeader("Cache-Control", "no-store");
    response.end(page);
  });
  app.use("/docs", serveFiles());
}

/** The page takes scripts and styles from this server only, and asks nobody else. */
const secured = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", "data:"],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  // The service speaks plain HTTP: this is for the proxy that does TLS to say.
  strictTransportSecurity: false,
});

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>pgmarkets</title>
    <link rel="icon" href="docs/favicon-32x32.png">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

const start = `SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  displayOperationId: true,
  validatorUrl: null,
});
`;

/** What the page consists of: files of swagger-ui-dist, and the line that starts it. */
function serveFiles(): RequestHandler {
  const directory = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  const read = (name: string) => readFileSync(join(directory, name));
  const files = new Map([
    ["/swagger-ui.css", { type: "text/css; charset=utf-8", body: read("swagger-ui.css") }],
    ["/swagger-ui-bundle.js", { type: script, body: read("swagger-ui-bundle.js") }],
    ["/favicon-32x32.png", { type: "image/png", body: read("favicon-32x32.png") }],
    ["/start.js", { type: script, body: Buffer.from(start) }],
  ]);
  return (request, response, next) => {
    const file = request.method === "GET" ? files.get(request.path) : undefined;
    if (file === undefined) {
      next();
      return;
    }
    secured(request, response, () => {
      response.setHeader("Content-Type", file.type);
      response.setHeader("Cache-Control", "public, max-age=3600");
      response.end(file.body);
    });
  };
}

const script = "text/javascript; charset=utf-8";
