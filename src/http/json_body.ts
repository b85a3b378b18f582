import { isUtf8 } from "node:buffer";
import express from "express";
import type { Request, RequestHandler, Response } from "express";

const LIMIT_BYTES = 64 * 1024;

const parseJson: RequestHandler = express.json({
  limit: LIMIT_BYTES,
  type: () => true,
  inflate: false,
  verify: (_request, _response, body, encoding) => {
    if (encoding !== "utf-8" || !isUtf8(body)) throw new Error("The body is not in UTF-8");
  },
});

/**
 * Reads the body as JSON, whatever its content type, up to 64 KiB. Compressed bodies are rejected: a
 * small one may decompress to a large one. Returns what is wrong with the body, if anything is.
 */
export function readJson(request: Request, response: Response): Promise<Error | undefined> {
  return new Promise((resolve) => {
    void parseJson(request, response, (fault?: unknown) => {
      resolve(fault as Error | undefined);
    });
  });
}
