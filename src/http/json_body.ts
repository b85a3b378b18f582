import express from "express";
import type { Request, RequestHandler, Response } from "express";

const LIMIT_BYTES = 64 * 1024;

/**
 * Reads the body as JSON whatever its content type says, up to 64 KiB as sent: no compression, so
 * that a small body can't become a big one.
 */
export const jsonBody: RequestHandler = express.json({
  limit: LIMIT_BYTES,
  type: () => true,
  inflate: false,
});

/** The same within a handler. Gives what is wrong with the body instead of throwing it. */
export function readJson(request: Request, response: Response): Promise<unknown> {
  return new Promise((resolve) => {
    void jsonBody(request, response, resolve);
  });
}
