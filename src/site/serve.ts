import type { Request, RequestHandler, Response } from "express";
import { securePage } from "../http/page_security.ts";
import { isPagePath } from "../website/paths.ts";
import type { Encoding, SiteFile, Website } from "./files.ts";

const ASSET_CACHING = "public, max-age=31536000, immutable";

const secure = securePage();

/**
 * Serves the website. It stands after all other routes: a path outside /api that nothing else
 * takes gets the website's own page for unknown paths, if the client prefers HTML.
 */
export function serveWebsite(website: Website): RequestHandler {
  return (request, response, next) => {
    if (!isForPages(request)) {
      next();
      return;
    }
    const asset = website.assets.get(request.path);
    const isPage = isPagePath(request.path);
    if (asset === undefined && !isPage && request.accepts(["json", "html"]) !== "html") {
      next();
      return;
    }
    secure(request, response, () => {
      response.statusCode = asset !== undefined || isPage ? 200 : 404;
      response.setHeader("Cache-Control", asset === undefined ? "no-store" : ASSET_CACHING);
      sendFile(request, response, asset ?? website.page);
    });
  };
}

function isForPages({ method, path }: Request): boolean {
  const isRead = method === "GET" || method === "HEAD";
  return isRead && path !== "/api" && !path.startsWith("/api/");
}

/** The smallest first: browsers like all that they name equally well. */
const preferred: Encoding[] = ["br", "gzip"];

function accepts(request: Request, encoding: Encoding): boolean {
  return request.acceptsEncodings(encoding) !== false;
}

function sendFile(request: Request, response: Response, file: SiteFile): void {
  const { contentType, encodings } = file;
  const encoding = preferred.find((name) => name in encodings && accepts(request, name));
  const body = (encoding && encodings[encoding]) ?? encodings.identity;
  response.setHeader("Content-Type", contentType);
  response.setHeader("Vary", "Accept-Encoding");
  response.setHeader("Content-Length", body.length);
  if (encoding !== undefined) response.setHeader("Content-Encoding", encoding);
  response.end(request.method === "HEAD" ? undefined : body);
}
