import { isUtf8 } from "node:buffer";
import express from "express";
import type { Request, RequestHandler, Response } from "express";

const parserOf = (limit: number): RequestHandler =>
  express.json({
    limit,
    type: () => true,
    inflate: false,
    verify: (_request, _response, body, encoding) => {
      if (encoding !== "utf-8" || !isUtf8(body)) throw new Error("The body is not in UTF-8");
    },
  });

const parseJson = parserOf(64 * 1024);
const parseLongJson = parserOf(1024 * 1024);

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
  return new Promise((resolve) => {
    void (mayBeLong ? parseLongJson : parseJson)(request, response, (fault?: unknown) => {
      resolve(fault as Error | undefined);
    });
  });
}
