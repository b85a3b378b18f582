import express from "express";
import type { RequestHandler } from "express";

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
