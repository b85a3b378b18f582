import type { RequestHandler } from "express";

/**
 * Takes a path that can't be decoded as it is written. So it comes to its route, which counts it
 * and refuses it in its own words for an id or a name that is none.
 */
export const literalPath: RequestHandler = (request, _response, next) => {
  if (!isDecodable(request.path)) {
    request.url = request.url.replace(/^[^?]*/, (path) => path.replaceAll("%", "%25"));
  }
  next();
};

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
