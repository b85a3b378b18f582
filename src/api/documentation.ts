import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { RequestHandler } from "express";
import { z } from "zod";
import { securePage } from "../http/page_security.ts";
import { isRead, sendFile } from "../http/static_file.ts";
import type { StaticFile } from "../http/static_file.ts";
import { makeDocument } from "./openapi.ts";
import { answered, route } from "./route.ts";
import type { Route } from "./route.ts";

/** The documentation of the interface: the OpenAPI document, and a page of it. */
export function documentationRoutes(routes: () => Route[]): Route[] {
  let document: string | undefined;

  const openApi = route({
    method: "get",
    path: "/openapi.json",
    operationId: "getOpenApi",
    tag: "Service",
    summary: "This document",
    auth: "none",
    rateLimit: "none",
    responses: {
      200: {
        description: "OpenAPI 3.1.",
        schema: z.looseObject({ openapi: z.string() }),
        // It changes with the version that is served.
        caching: { freshSeconds: 60, staleSeconds: 300 },
      },
    },
    handler: () => (document ??= JSON.stringify(makeDocument(routes()))),
  });

  const page = route({
    method: "get",
    path: "/docs",
    operationId: "getDocs",
    tag: "Service",
    summary: "This document as a page to browse",
    auth: "none",
    rateLimit: "none",
    responses: { 200: { description: "The page.", contentType: "text/html; charset=utf-8" } },
    handler: ({ request, response }) => {
      secure(request, response, () => undefined);
      if (!request.path.endsWith("/")) return pageText;
      // The page has relative links, so it has one address.
      response.redirect(308, "../docs");
      return answered;
    },
  });

  return [openApi, page];
}

/** Images of the page's styles are in the styles. */
const secure = securePage({ images: ["data:"] });

const pageText = `<!doctype html>
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

/** The files of the page: those of swagger-ui-dist, and the script that starts it. */
export function documentationFiles(): RequestHandler {
  const directory = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  const read = (name: string) => readFileSync(join(directory, name));
  const files = new Map([
    ["/swagger-ui.css", fileOf("text/css; charset=utf-8", read("swagger-ui.css"))],
    ["/swagger-ui-bundle.js", fileOf(script, read("swagger-ui-bundle.js"))],
    ["/favicon-32x32.png", fileOf("image/png", read("favicon-32x32.png"))],
    ["/start.js", fileOf(script, Buffer.from(start))],
  ]);
  return (request, response, next) => {
    const file = isRead(request) ? files.get(request.path) : undefined;
    if (file === undefined) {
      next();
      return;
    }
    secure(request, response, () => {
      response.setHeader("Cache-Control", "public, max-age=3600");
      sendFile(request, response, file);
    });
  };
}

const script = "text/javascript; charset=utf-8";

function fileOf(contentType: string, identity: Buffer): StaticFile {
  return { contentType, encodings: { identity } };
}
