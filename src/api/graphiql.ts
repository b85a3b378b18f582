import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import type { Express, RequestHandler, Response } from "express";
import { securePage } from "../http/page_security.ts";
import { isRead, sendFile } from "../http/static_file.ts";
import type { StaticFile } from "../http/static_file.ts";
import { singleFlightByKey } from "../single_flight.ts";

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
    const html = ruru.ruruHTML({ endpoint, staticPath, htmlParts: { metaTags: withoutIcon } });
    const nonce = response.locals.nonce as string;
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.setHeader("Cache-Control", "no-store");
    response.end(html.replaceAll("<script", `<script nonce="${nonce}"`));
  };

  const findFile = keptFiles(staticPath);
  const showFile: RequestHandler = async (request, response, next) => {
    // Also for what is not found: a cache must not answer one client with what is for another.
    response.vary("Accept-Encoding");
    const file = isRead(request) ? await findFile(request.path.slice(1)) : undefined;
    if (file === undefined) {
      next();
      return;
    }
    response.setHeader("Cache-Control", "public, max-age=3600");
    sendFile(request, response, file);
  };

  app.use(path, (request, response, next) => {
    response.locals.nonce = randomBytes(16).toString("base64");
    secure(request, response, (error: unknown) => {
      if (error !== undefined) next(error);
      else if (request.path !== "/" || !isRead(request)) next();
      else showPage(response).catch(next);
    });
  });
  app.use(`${path}/static`, showFile);
}

/** The page has no icon: without this, browsers ask for one that the server does not have. */
const withoutIcon = (metaTags: string): string => `${metaTags}<link rel="icon" href="data:," />`;

/** Finds the files of the page by their names. Each is decompressed once, and then kept. */
export function keptFiles(staticPath: string): (name: string) => Promise<StaticFile | undefined> {
  const kept = new Map<string, StaticFile>();
  const readOnce = singleFlightByKey(async (name) => {
    const file = await readFile(staticPath, name);
    if (file !== undefined) kept.set(name, file);
    return file;
  });
  return async (name) => kept.get(name) ?? (await readOnce(name));
}

async function readFile(staticPath: string, name: string): Promise<StaticFile | undefined> {
  const { getStaticFile } = await import("postgraphile/grafserv/ruru/static");
  const file = await getStaticFile({
    staticPath,
    urlPath: staticPath + name,
    acceptEncoding: "br",
    disallowDevAssets: true,
  });
  if (file === null) return undefined;
  const { content: br, headers } = file;
  return {
    contentType: headers["content-type"] ?? "application/octet-stream",
    encodings: { br, identity: await decompress(br) },
  };
}

const decompress = promisify(brotliDecompress);

/** Scripts of this server and of the page itself. The editor needs inline styles. */
const secure = securePage({
  scripts: [(_request, response) => `'nonce-${(response as Response).locals.nonce as string}'`],
  styles: ["'unsafe-inline'"],
  images: ["data:"],
  fonts: ["data:"],
  workers: [],
});
