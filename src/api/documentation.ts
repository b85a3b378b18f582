import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { RequestHandler } from "express";
import { z } from "zod";
import { clientAddressOf } from "../client_address.ts";
import { securePage } from "../http/page_security.ts";
import { compressedFile, isRead, sendFile } from "../http/static_file.ts";
import type { StaticFile } from "../http/static_file.ts";
import type { Context } from "./context.ts";
import { makeDocument } from "./openapi.ts";
import { answered, route } from "./route.ts";
import type { Route } from "./route.ts";

/** The documentation of the interface: the OpenAPI document, and a page of it. */
export function documentationRoutes(routes: () => Route[]): Route[] {
  let document: Promise<StaticFile> | undefined;

  const openApi = route({
    method: "get",
    path: "/openapi.json",
    operationId: "getOpenApi",
    tag: "Service",
    summary: "This document",
    auth: "none",
    rateLimit: "read",
    responses: {
      200: {
        description: "OpenAPI 3.1.",
        schema: z.looseObject({ openapi: z.string() }),
        caching: documentCaching,
      },
    },
    handler: async () => {
      document ??= compressedFile(
        "application/json; charset=utf-8",
        Buffer.from(JSON.stringify(makeDocument(routes()))),
      );
      return { file: await document, headers: keptByClients };
    },
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

/** These files change with the version that is served. */
const documentCaching = { freshSeconds: 3600, staleSeconds: 86_400 };

const keptByClients = {
  "Cache-Control": `public, max-age=${documentCaching.freshSeconds}, stale-while-revalidate=${documentCaching.staleSeconds}`,
};

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
export function documentationFiles({ access }: Pick<Context, "access">): RequestHandler {
  const directory = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  const read = (name: string) => readFileSync(join(directory, name));
  const contents = new Map<string, [contentType: string, read: () => Buffer]>([
    ["/swagger-ui.css", ["text/css; charset=utf-8", () => read("swagger-ui.css")]],
    ["/swagger-ui-bundle.js", [script, () => read("swagger-ui-bundle.js")]],
    ["/favicon-32x32.png", ["image/png", () => read("favicon-32x32.png")]],
    ["/start.js", [script, () => Buffer.from(start)]],
  ]);
  const files = new Map<string, Promise<StaticFile>>();

  function fileAt(path: string): Promise<StaticFile> | undefined {
    const known = files.get(path);
    const content = contents.get(path);
    if (known !== undefined || content === undefined) return known;
    const [contentType, readContent] = content;
    const file = compressedFile(contentType, readContent());
    files.set(path, file);
    return file;
  }

  return async (request, response, next) => {
    const file = isRead(request) ? fileAt(request.path) : undefined;
    if (file === undefined) {
      next();
      return;
    }
    const client = { caller: undefined, address: clientAddressOf(request) };
    await access.count("read", client, response);
    const found = await file;
    secure(request, response, () => {
      response.setHeaders(new Map(Object.entries(keptByClients)));
      sendFile(request, response, found);
    });
  };
}

const script = "text/javascript; charset=utf-8";
