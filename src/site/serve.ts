import type { Request, RequestHandler } from "express";
import { securePage } from "../http/page_security.ts";
import { isRead, sendFile } from "../http/static_file.ts";
import { isBelowOperator, isStaffPath } from "../website/operator/paths.ts";
import { isPagePath } from "../website/paths.ts";
import type { Website } from "./files.ts";

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
    const own = website.ownPages.get(request.path);
    const isPage = own !== undefined || isPagePath(request.path) || isStaffPath(request.path);
    if (asset === undefined && !isPage && request.accepts(["json", "html"]) !== "html") {
      next();
      return;
    }
    secure(request, response, () => {
      response.statusCode = asset !== undefined || isPage ? 200 : 404;
      response.setHeader("Cache-Control", asset === undefined ? "no-store" : ASSET_CACHING);
      const page = isBelowOperator(request.path) ? website.staffPage : website.page;
      sendFile(request, response, asset ?? own ?? page);
    });
  };
}

function isForPages(request: Request): boolean {
  const { path } = request;
  return isRead(request) && path !== "/api" && !path.startsWith("/api/");
}
