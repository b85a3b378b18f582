import { randomBytes } from "node:crypto";
import type { Express, RequestHandler, Response } from "express";
import { securePage } from "../http/page_security.ts";

export interface GraphiqlOptions {
  path: string;
  /** The address that the page sends queries to. */
  endpoint: string;
}

/**
 * A page (Ruru) to write queries. Everybody may open it: it has no data, and its users enter their key
 * as a header. It loads files from this server only.
 */
export function installGraphiql(app: Express, { path, endpoint }: GraphiqlOptions): void {
  const staticPath = `${path}/static/`;

  const showPage = async (response: Response): Promise<void> => {
    const ruru = await import("postgraphile/grafserv/ruru/server");
    const html = ruru.ruruHTML({ endpoint, staticPath });
    const nonce = response.locals.nonce as string;
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.setHeader("Cache-Control", "no-store");
    response.end(html.replaceAll("<script", `<script nonce="${nonce}"`));
  };

  const sendFile: RequestHandler = async (request, response, next) => {
    const { getStaticFile } = await import("postgraphile/grafserv/ruru/static");
    const file = await getStaticFile({
      staticPath,
      urlPath: request.baseUrl + request.path,
      acceptEncoding: request.headers["accept-encoding"],
      disallowDevAssets: true,
    });
    if (file === null || request.method !== "GET") {
      next();
      return;
    }
    response.set(file.headers);
    response.setHeader("Cache-Control", "public, max-age=3600");
    response.end(file.content);
  };

  app.use(path, (request, response, next) => {
    response.locals.nonce = randomBytes(16).toString("base64");
    secure(request, response, (error: unknown) => {
      if (error !== undefined) next(error);
      else if (request.path !== "/" || request.method !== "GET") next();
      else showPage(response).catch(next);
    });
  });
  app.use(`${path}/static`, sendFile);
}

/** Scripts of this server and of the page itself. The editor needs inline styles. */
const secure = securePage({
  scripts: [(_request, response) => `'nonce-${(response as Response).locals.nonce as string}'`],
  styles: ["'unsafe-inline'"],
  images: ["data:"],
  fonts: ["data:"],
  workers: [],
});
