import type { RequestHandler } from "express";

/**
 * Takes a path that can't be decoded literally. So it reaches its route, which counts the request and
 * answers as for any other invalid id or name.
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
