import { promisify } from "node:util";
import { brotliCompress, constants, gzip as gzipCompress } from "node:zlib";
import type { Request, Response } from "express";
import { etagOf, isKnown } from "./caching.ts";

/** A file that does not change, in memory, in each encoding that there is of it. */
export interface StaticFile {
  contentType: string;
  encodings: Partial<Record<Encoding, Buffer>> & { identity: Buffer };
  /** Names the content, for a path whose content may change with the version. */
  etag?: string;
}

export type Encoding = "br" | "gzip" | "identity";

/** The smallest first: browsers like all that they name equally well. */
const preferred: Encoding[] = ["br", "gzip"];

/** Whether a request only reads. */
export function isRead({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

const BROTLI_QUALITY = 6;

/** A file in all encodings. It is compressed once, and not by the thread that answers. */
export async function compressedFile(contentType: string, identity: Buffer): Promise<StaticFile> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  const [br, gzip] = await Promise.all([
    promisify(brotliCompress)(identity, { params }),
    promisify(gzipCompress)(identity),
  ]);
  // A strong name would be of one encoding.
  return { contentType, encodings: { identity, br, gzip }, etag: `W/${etagOf(identity)}` };
}

/** Answers with a file, in the best encoding that the client takes. All answers share its bytes. */
export function sendFile(request: Request, response: Response, file: StaticFile): void {
  const { contentType, encodings, etag } = file;
  const encoding = preferred.find((name) => name in encodings && accepts(request, name));
  const body = (encoding && encodings[encoding]) ?? encodings.identity;
  response.setHeader("Vary", "Accept-Encoding");
  if (etag !== undefined) response.setHeader("ETag", etag);
  if (etag !== undefined && isKnown(request, etag)) {
    response.status(304).end();
    return;
  }
  response.setHeader("Content-Type", contentType);
  response.setHeader("Content-Length", body.length);
  if (encoding !== undefined) response.setHeader("Content-Encoding", encoding);
  response.end(request.method === "HEAD" ? undefined : body);
}

function accepts(request: Request, encoding: Encoding): boolean {
  return request.acceptsEncodings(encoding) !== false;
}
