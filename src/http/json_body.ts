import { isUtf8 } from "node:buffer";
import express from "express";
import type { Request, RequestHandler, Response } from "express";

const BODY_BYTES = 64 * 1024;
const LONG_BODY_BYTES = 1024 * 1024;

const parserOf = (limit: number): RequestHandler =>
  express.json({
    limit,
    type: () => true,
    inflate: false,
    verify: (_request, _response, body, encoding) => {
      if (encoding !== "utf-8" || !isUtf8(body)) throw new Error("The body is not in UTF-8");
    },
  });

const parseJson = parserOf(BODY_BYTES);
const parseLongJson = parserOf(LONG_BODY_BYTES);

/**
 * Reads the body as JSON, whatever its content type, up to 64 KiB, or 1 MiB if it may be long.
 * Compressed bodies are rejected: a small one may decompress to a large one. Returns what is wrong
 * with the body, if anything is.
 */
export function readJson(
  request: Request,
  response: Response,
  { mayBeLong = false } = {},
): Promise<Error | undefined> {
  const limit = mayBeLong ? LONG_BODY_BYTES : BODY_BYTES;
  return new Promise((resolve) => {
    const refuseAbove = (bytes: number): void => {
      if (bytes > limit) resolve(tooLarge());
    };
    void (mayBeLong ? parseLongJson : parseJson)(request, response, (fault?: unknown) => {
      // To the parser, the request of a client that is gone has no body, or one that was read before.
      const isMissing = fault === undefined && request.body === undefined && hasBody(request);
      resolve(isMissing ? aborted() : (fault as Error | undefined));
    });
    // The parser says so too, but only once it has read such a body to its end.
    const announced = request.headers["content-length"];
    if (announced !== undefined) {
      refuseAbove(Number(announced));
      return;
    }
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      refuseAbove((bytes += chunk.length));
    });
  });
}

const hasBody = ({ headers }: Request): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

const aborted = (): Error =>
  Object.assign(new Error("The client is gone"), { status: 400, type: "request.aborted" });

const tooLarge = (): Error =>
  Object.assign(new Error("The body is too large"), { status: 413, type: "entity.too.large" });
